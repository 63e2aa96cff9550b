import type { WorkerDrained, WorkerView } from '@signalbox/protocol';
import { shownQueues } from '@signalbox/protocol/words';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChangeButton } from '../actions/change.tsx';
import { post, seg } from '../api/client.ts';
import { heldQuery, workersQuery } from '../api/queries.ts';
import { useSearchState } from '../api/search-state.ts';
import { plural, shortId, span } from '../parts/format.ts';
import { Command } from '../parts/json.tsx';
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
    </Page>
  );
}

/** A worker says something every three seconds; its lease is fifteen. */
const QUIET_MS = 6_000;

const COLUMNS: readonly Column<WorkerView>[] = [
  {
    head: 'Worker',
    cell: ({ id, name, draining, cordoned, reserved }) => (
      <>
        <b>{name}</b> {draining && <span className="chip warn">draining</span>}
        {cordoned === true && <span className="chip warn">cordoned</span>}
        {reserved === true && <span className="chip">reserved</span>}
        <div className="small faint mono">{id.slice(0, 8)}</div>
      </>
    ),
  },
  { head: 'Queues', label: 'Queues', look: 'breaks', cell: shownQueues },
  { head: 'Slots in use', label: 'Slots', cell: (worker) => <Slots worker={worker} /> },
  {
    head: 'Version',
    label: 'Version',
    look: 'soft',
    cell: ({ version }) => version ?? <span className="faint">unknown</span>,
  },
  { head: 'Server', place: 'hide-narrow', look: 'soft mono', cell: ({ node }) => node.slice(0, 8) },
  {
    head: 'Last heard',
    place: 'right hide-phone',
    look: ({ silentMs }) => (silentMs > QUIET_MS ? 'tone-bad' : 'soft'),
    cell: ({ silentMs }) => (silentMs < 1_000 ? 'just now' : `${span(silentMs)} ago`),
  },
  actionsOf(({ id, name, draining }) => (
    <ChangeButton
      label={`Drain ${name}`}
      title="Takes nothing new, finishes what it has and leaves"
      disabled={draining}
      run={() => post<WorkerDrained>(`/v1/workers/${seg(id)}/drain`)}
      done={`${name} takes nothing new, finishes what it has and leaves.`}
      touches={['workers']}
    >
      Drain
    </ChangeButton>
  )),
];

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
    <div className="row">
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
