import type { WorkerDrained, WorkerView } from '@signalbox/protocol';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { post, seg } from '../api/client.ts';
import { workersQuery } from '../api/queries.ts';
import { useRights } from '../api/session.tsx';
import { span } from '../parts/format.ts';
import { Card, Empty, Loaded, Page } from '../parts/page.tsx';
import { useToasts } from '../parts/toasts.tsx';

export function WorkersPage() {
  const workers = useQuery(workersQuery());
  return (
    <Page title="Workers">
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
                  <code>signalbox worker</code>
                </Empty>
              ) : (
                <div className="scroll-x">
                  <table className="list">
                    <thead>
                      <tr>
                        <th>Worker</th>
                        <th>Queues</th>
                        <th>Slots in use</th>
                        <th className="hide-narrow">Server</th>
                        <th className="right hide-phone">Last heard</th>
                        <th>
                          <span className="visually-hidden">Actions</span>
                        </th>
                      </tr>
                    </thead>
                    <tbody>
                      {items.map((worker) => (
                        <Row key={worker.id} worker={worker} />
                      ))}
                    </tbody>
                  </table>
                </div>
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

function Row({ worker }: { readonly worker: WorkerView }) {
  const client = useQueryClient();
  const { tell, fail } = useToasts();
  const { mayOperate, reason } = useRights();
  const { id, name, queues, slots, running, draining, silentMs, node } = worker;
  const drain = useMutation({
    mutationFn: () => post<WorkerDrained>(`/v1/workers/${seg(id)}/drain`),
    onSuccess: async () => {
      tell(`${name} takes nothing new, finishes what it has and leaves.`);
      await client.invalidateQueries({ queryKey: ['workers'] });
    },
    onError: fail,
  });
  return (
    <tr>
      <td>
        <b>{name}</b> {draining && <span className="chip warn">draining</span>}
        <div className="small faint mono">{id.slice(0, 8)}</div>
      </td>
      <td>{queues.join(', ')}</td>
      <td>
        <div className="row">
          <div className="bar slots">
            <i className="tone-fill-busy" style={{ width: `${slots === 0 ? 0 : (running / slots) * 100}%` }} />
          </div>
          <span className="nowrap">
            {running} of {slots}
          </span>
        </div>
      </td>
      <td className="soft mono hide-narrow">{node.slice(0, 8)}</td>
      <td className={silentMs > QUIET_MS ? 'right hide-phone tone-bad' : 'right hide-phone soft'}>
        {silentMs < 1_000 ? 'just now' : `${span(silentMs)} ago`}
      </td>
      <td className="right">
        <button
          type="button"
          className="button small"
          disabled={!mayOperate || draining || drain.isPending}
          title={reason ?? 'Takes nothing new, finishes what it has and leaves'}
          onClick={() => drain.mutate()}
        >
          Drain
        </button>
      </td>
    </tr>
  );
}
