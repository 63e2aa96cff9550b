/** Queues: what waits in each, and the workers that serve it. */
import type { QueueView } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { queuesQuery } from '../api/queries.ts';
import { count, plural } from '../parts/format.ts';
import { Card, Empty, Loaded, Page } from '../parts/page.tsx';

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
                  <code>signalbox worker --queues default</code>
                </Empty>
              ) : (
                <table className="list">
                  <thead>
                    <tr>
                      <th>Queue</th>
                      <th className="right">Waiting</th>
                      <th>Served by</th>
                      <th>Slots in use</th>
                    </tr>
                  </thead>
                  <tbody>
                    {items.map((queue) => (
                      <Row key={queue.name} queue={queue} />
                    ))}
                  </tbody>
                </table>
              )}
            </>
          )}
        </Loaded>
      </Card>
    </Page>
  );
}

function Row({ queue: { name, waiting, workers, slots, running } }: { readonly queue: QueueView }) {
  return (
    <tr>
      <td>
        <b>{name}</b>
      </td>
      <td className="right">{waiting === 0 ? <span className="faint">0</span> : <b>{count(waiting)}</b>}</td>
      <td>{workers === 0 ? <span className="chip bad">no worker</span> : plural(workers, 'worker')}</td>
      <td>
        {slots === 0 ? (
          <span className="faint">–</span>
        ) : (
          <div className="row">
            <div className="bar slots">
              <i className="tone-fill-busy" style={{ width: `${Math.min(1, running / slots) * 100}%` }} />
            </div>
            <span className="nowrap">
              {running} of {slots}
            </span>
          </div>
        )}
      </td>
    </tr>
  );
}
