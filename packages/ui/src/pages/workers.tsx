import type { FreezeView, WorkerDrained, WorkerEvent, WorkerView } from '@signalbox/protocol';
import { shownAmount, shownBytes, shownQueues } from '@signalbox/protocol/words';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ChangeButton, ConfirmButton } from '../actions/change.tsx';
import { post, put, remove, seg } from '../api/client.ts';
import { heldQuery, workerHistoryQuery, workersQuery } from '../api/queries.ts';
import { useSearchState } from '../api/search-state.ts';
import { plural, shortId, span } from '../parts/format.ts';
import { Command } from '../parts/json.tsx';
import { Time } from '../parts/now.tsx';
import { Card, Empty, Loaded, Page } from '../parts/page.tsx';
import { actionsOf, type Column, Table } from '../parts/table.tsx';

export function WorkersPage() {
  const workers = useQuery(workersQuery());
  return (
    <Page
      title="Workers"
      sub="Workers run tasks: as many at a time as they have slots, from the queues that they serve."
    >
      <Card flush>
        <Loaded query={workers}>
          {({ items, missing }) => (
            <>
              {missing.length > 0 && (
                <div className="notice warn">
                  These servers gave no answer: {missing.join(', ')}. Their workers are not shown.
                </div>
              )}
              {items.length === 0 ? (
                <Empty title="No worker is connected, so no task can run.">
                  <span>Start one:</span>
                  <Command>signalbox worker</Command>
                </Empty>
              ) : (
                <WorkerTable workers={items} />
              )}
            </>
          )}
        </Loaded>
      </Card>
      <History />
    </Page>
  );
}

/** Of the worker that is open, or of all: also of those that are gone. Read when somebody opens it. */
function History() {
  const [{ worker }] = useSearchState();
  const [isOpen, setOpen] = useState(false);
  const history = useQuery({ ...workerHistoryQuery(worker), enabled: isOpen });
  return (
    <Card>
      <details className="more-fields" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>{worker === undefined ? 'What happened to workers' : 'What happened to this worker'}</summary>
        {isOpen && (
          <Loaded query={history}>
            {({ items }) => (items.length === 0 ? <p className="faint">Nothing yet.</p> : <Events events={items} />)}
          </Loaded>
        )}
      </details>
    </Card>
  );
}

const BAD_EVENTS: readonly WorkerEvent['kind'][] = ['lost', 'clock_wrong'];

function Events({ events }: { readonly events: readonly WorkerEvent[] }) {
  return (
    <ul className="held">
      {events.map(({ id, at, name, worker, kind, message }) => (
        <li key={id}>
          <span className="soft">
            <Time at={at} />
          </span>{' '}
          <b>{name}</b> <span className="small faint mono">{worker.slice(0, 8)}</span>{' '}
          <span className={BAD_EVENTS.includes(kind) ? 'tone-bad' : undefined}>{message}</span>
        </li>
      ))}
    </ul>
  );
}

/** A worker says something every three seconds; its lease is fifteen. */
const QUIET_MS = 6_000;

const COLUMNS: readonly Column<WorkerView>[] = [
  {
    head: 'Worker',
    cell: ({ id, name, draining, cordoned, reserved, labels }) => (
      <>
        <b>{name}</b>{' '}
        {isSpot(labels) && (
          <span className="chip" title="It may be taken away at short notice">
            spot
          </span>
        )}{' '}
        {draining && <span className="chip warn">draining</span>}
        {cordoned === true && (
          <span className="chip warn" title="It takes nothing new, and stays connected">
            cordoned
          </span>
        )}
        {reserved === true && (
          <span className="chip" title="Kept for a task that has waited for room for long">
            reserved
          </span>
        )}
        <div className="small faint mono">{id.slice(0, 8)}</div>
      </>
    ),
  },
  { head: 'Queues', label: 'Queues', look: 'breaks', cell: shownQueues },
  { head: 'Slots in use', label: 'Slots', cell: (worker) => <Slots worker={worker} /> },
  {
    head: 'Free resources',
    label: 'Free',
    place: 'phone-line',
    cell: (worker) => <Offers worker={worker} />,
  },
  {
    head: 'Version',
    label: 'Version',
    look: 'soft',
    title: ({ node }) => `Connected to server ${node}`,
    cell: ({ version }) => <span className={version === null ? 'faint' : undefined}>{version ?? 'unknown'}</span>,
  },
  {
    head: 'Last heard',
    place: 'right hide-phone',
    look: ({ silentMs }) => (silentMs > QUIET_MS ? 'tone-bad' : 'soft'),
    cell: ({ silentMs }) => (silentMs < 1_000 ? 'just now' : `${span(silentMs)} ago`),
  },
  actionsOf((worker) => <Actions worker={worker} />),
];

/** As the matcher reads the label. */
const isSpot = (labels: WorkerView['labels']): boolean => labels?.spot !== undefined && labels.spot !== 'false';

/** Labels say where tasks may run; `spot` is said beside the name. */
function Offers({ worker: { resources = {}, free = {}, labels = {} } }: { readonly worker: WorkerView }) {
  const shown = Object.entries(labels).filter(([name]) => name !== 'spot' || !isSpot(labels));
  const amounts = Object.entries(resources);
  if (amounts.length + shown.length === 0) return <span className="faint">–</span>;
  return (
    <div className="row wrap offers">
      {amounts.map(([name, total]) => (
        <span key={name} className="nowrap" title={`It offers ${shownAmount(name, total)}`}>
          {freeText(name, Math.max(0, free[name] ?? 0), total)}
        </span>
      ))}
      {shown.map(([name, value]) => (
        <span key={name} className="chip" title="Label">
          <span className="truncate">{value === '' ? name : `${name}=${value}`}</span>
        </span>
      ))}
    </div>
  );
}

/** `6 of 8 cpu`, `24 GiB of 32 GiB memory`. */
function freeText(name: string, free: number, total: number): string {
  if (name === 'cpu') return `${free / 1_000} of ${total / 1_000} cpu`;
  if (name === 'memory' || name === 'disk') return `${shownBytes(free)} of ${shownBytes(total)} ${name}`;
  return `${free} of ${total} ${name}`;
}

function Actions({ worker: { id, name, draining, cordoned = false } }: { readonly worker: WorkerView }) {
  const freeze = `/v1/freezes/${seg(`worker:${id}`)}`;
  const path = `/v1/workers/${seg(id)}`;
  return (
    <>
      <ChangeButton
        label={cordoned ? `Uncordon ${name}` : `Cordon ${name}`}
        title={cordoned ? 'It takes tasks again' : 'Takes nothing new, finishes what it has and stays connected'}
        run={() => (cordoned ? remove(freeze) : put<FreezeView>(freeze, {}))}
        done={cordoned ? `${name} takes tasks again.` : `${name} takes nothing new, and stays connected.`}
        touches={['workers', 'freezes', 'queues']}
      >
        {cordoned ? 'Uncordon' : 'Cordon'}
      </ChangeButton>
      <ChangeButton
        label={`Drain ${name}`}
        title="Takes nothing new, finishes what it has and leaves"
        disabled={draining}
        run={() => post<WorkerDrained>(`${path}/drain`)}
        done={`${name} takes nothing new, finishes what it has and leaves.`}
        touches={['workers']}
      >
        Drain
      </ChangeButton>
      <ConfirmButton
        button="Evict …"
        label={`Evict ${name}`}
        title={`Evict ${name}`}
        verb="Evict the worker"
        change={{
          run: () => post<WorkerDrained>(`${path}/evict`),
          done: `${name} stops what it runs and leaves.`,
          touches: ['workers', 'held'],
        }}
      >
        <p>
          It takes nothing new, stops what it runs and leaves. Each attempt has a short time to save a checkpoint. Then
          it runs again elsewhere, and spends no retry.
        </p>
        <p className="soft">Drain it instead to let it finish what it runs.</p>
      </ConfirmButton>
    </>
  );
}

/** The address says of which worker the tasks are shown. */
function WorkerTable({ workers }: { readonly workers: readonly WorkerView[] }) {
  const [{ worker: shown }] = useSearchState();
  return (
    <Table
      isStacked
      rows={workers}
      keyOf={({ id }) => id}
      columns={COLUMNS}
      below={({ id }) => (id === shown ? <Held worker={id} /> : null)}
    />
  );
}

function Slots({ worker: { id, slots, running } }: { readonly worker: WorkerView }) {
  const [{ worker: shown }, change] = useSearchState();
  const isOpen = shown === id;
  return (
    <div className="row worker-slots">
      <div className="bar slots">
        <i className="tone-fill-busy" style={{ width: `${slots === 0 ? 0 : (running / slots) * 100}%` }} />
      </div>
      <button
        type="button"
        className="link-button nowrap"
        aria-expanded={isOpen}
        title="What it runs"
        onClick={() => change({ worker: isOpen ? undefined : id })}
      >
        {running} of {slots} {isOpen ? '▾' : '▸'}
      </button>
    </div>
  );
}

/** What a worker runs at this moment. */
function Held({ worker }: { readonly worker: string }) {
  const held = useQuery(heldQuery(worker));
  return (
    <Loaded query={held}>
      {({ items, more }) =>
        items.length === 0 ? (
          <span className="faint">It runs nothing.</span>
        ) : (
          <ul className="held">
            {items.map(({ dag, run, task, attempt }) => (
              <li key={`${run} ${task} ${attempt}`}>
                <Link to="/runs/$id/tasks/$task" params={{ id: run, task }} className="name-link">
                  {task}
                </Link>{' '}
                <span className="faint">
                  of {dag} {shortId(run)}
                  {attempt > 1 && `, attempt ${attempt}`}
                </span>
              </li>
            ))}
            {more > 0 && <li className="faint">and {plural(more, 'more')}</li>}
          </ul>
        )
      }
    </Loaded>
  );
}
