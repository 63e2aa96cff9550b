import type { WorkerDrained, WorkerView } from '@signalbox/protocol';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { post, seg } from '../api/client.ts';
import { heldQuery, workersQuery } from '../api/queries.ts';
import { useSearchState } from '../api/search-state.ts';
import { useRights } from '../api/session.tsx';
import { plural, shortId, span } from '../parts/format.ts';
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
  const [{ worker: shown }, change] = useSearchState();
  const isOpen = shown === id;
  return (
    <>
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
      {isOpen && (
        <tr>
          <td colSpan={6}>
            <Held worker={id} />
          </td>
        </tr>
      )}
    </>
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
