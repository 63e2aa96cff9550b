/** Queues: what waits in each, and the workers that serve it. */
import type { QueueView, ScaledIn } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { OpenButton } from '../actions/change.tsx';
import { post, seg } from '../api/client.ts';
import { queuesQuery } from '../api/queries.ts';
import { TextField } from '../parts/field.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { count, plural, span } from '../parts/format.ts';
import { Command } from '../parts/json.tsx';
import { Card, Empty, Loaded, Page } from '../parts/page.tsx';
import { actionsOf, type Column, Table } from '../parts/table.tsx';
import { useToasts } from '../parts/toasts.tsx';

export function QueuesPage() {
  const queues = useQuery(queuesQuery());
  return (
    <Page title="Queues" sub="A task waits in its queue until a worker that serves it has a free slot.">
      <Card flush>
        <Loaded query={queues}>
          {({ items, missing }) => (
            <>
              {missing.length > 0 && (
                <div className="notice warn">
                  These servers gave no answer: {missing.join(', ')}. Counts are too low.
                </div>
              )}
              {items.length === 0 ? (
                <Empty title="No worker serves any queue.">
                  <span>Start one that does:</span>
                  <Command>signalbox worker --queues default</Command>
                </Empty>
              ) : (
                <Table isStacked rows={items} keyOf={({ name }) => name} columns={COLUMNS} />
              )}
            </>
          )}
        </Loaded>
      </Card>
    </Page>
  );
}

const COLUMNS: readonly Column<QueueView>[] = [
  { head: 'Queue', cell: ({ name }) => <b>{name}</b> },
  {
    head: 'Waiting',
    label: 'Waiting',
    place: 'right',
    cell: ({ waiting }) => (waiting === 0 ? <span className="faint">0</span> : <b>{count(waiting)}</b>),
  },
  {
    head: 'Held by limits',
    label: 'Held by limits',
    place: 'right',
    cell: ({ held }) => (held === 0 ? <span className="faint">0</span> : count(held)),
  },
  {
    head: 'Oldest',
    label: 'Oldest',
    cell: ({ oldestMs }) => (oldestMs === null ? <span className="faint">–</span> : span(oldestMs)),
  },
  {
    head: 'Drained in',
    label: 'Drained in',
    cell: ({ drainMs }) =>
      drainMs === 0 ? <span className="faint">–</span> : drainMs === null ? 'unknown' : `about ${span(drainMs)}`,
  },
  {
    head: 'Served by',
    cell: ({ workers }) => (workers === 0 ? <span className="chip bad">no worker</span> : plural(workers, 'worker')),
  },
  { head: 'Slots in use', cell: (queue) => <Slots queue={queue} /> },
  {
    head: 'Wanted',
    label: 'Wanted',
    title: 'As many workers as would run all that waits and runs at once',
    cell: ({ workers, wantedWorkers }) => <Wanted workers={workers} wanted={wantedWorkers} />,
  },
  actionsOf((queue) => (queue.workers === 0 ? null : <ScaleInButton queue={queue} />)),
];

function ScaleInButton({ queue }: { readonly queue: QueueView }) {
  return (
    <OpenButton
      label={`Scale in ${queue.name}`}
      dialog={(onClose) => <ScaleInDialog queue={queue} onClose={onClose} />}
    >
      Scale in …
    </OpenButton>
  );
}

/** Drains workers of a queue, the least busy first. */
function ScaleInDialog({ queue: { name, workers, wantedWorkers }, onClose }: ScaleInProps) {
  const [to, setTo] = useState(String(Math.min(workers, wantedWorkers ?? workers)));
  const isNumber = /^\d{1,6}$/.test(to);
  const { tell } = useToasts();
  return (
    <FormDialog
      title={`Scale in ${name}`}
      verb={isNumber && Number(to) < workers ? `Drain ${plural(workers - Number(to), 'worker')}` : 'Drain'}
      isReady={isNumber && Number(to) < workers}
      onClose={onClose}
      change={{
        run: () => post<ScaledIn>(`/v1/queues/${seg(name)}/scale-in`, { to: Number(to) }),
        onDone: ({ drained }) =>
          tell(
            drained.length === 0 ? 'No worker was drained.' : `Draining ${drained.map((one) => one.name).join(', ')}.`,
          ),
        touches: ['workers', 'queues'],
      }}
    >
      <p>The least busy workers take nothing new, finish what they have and leave.</p>
      <TextField
        label="Workers that stay"
        value={to}
        onChange={setTo}
        hint={`${plural(workers, 'worker')} now${wantedWorkers === null ? '' : `, ${count(wantedWorkers)} wanted`}.`}
        fault={isNumber ? undefined : 'must be a whole number, 0 or more'}
      />
    </FormDialog>
  );
}

interface ScaleInProps {
  readonly queue: QueueView;
  readonly onClose: () => void;
}

function Wanted({ workers, wanted }: { readonly workers: number; readonly wanted: number | null }) {
  if (wanted === null) return <span className="faint">–</span>;
  const text = plural(wanted, 'worker');
  return wanted > workers ? <b>{text}</b> : <span className="faint">{text}</span>;
}

function Slots({ queue: { slots, running } }: { readonly queue: QueueView }) {
  if (slots === 0) return <span className="faint">–</span>;
  return (
    <div className="row">
      <div className="bar slots">
        <i className="tone-fill-busy" style={{ width: `${Math.min(1, running / slots) * 100}%` }} />
      </div>
      <span className="nowrap">
        {running} of {slots}
      </span>
    </div>
  );
}
