/** Queues, and the workers that serve them. */
import type { WorkerView } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { workersQuery } from '../api/queries.ts';
import { plural } from '../parts/format.ts';
import { Card, Empty, Loaded, Page } from '../parts/page.tsx';

export interface QueueRow {
  readonly name: string;
  readonly workers: number;
  readonly slots: number;
  readonly running: number;
}

/** A worker that drains takes nothing new. Slots that serve several queues count for each. */
export function queuesOf(
  workers: readonly Pick<WorkerView, 'queues' | 'slots' | 'running' | 'draining'>[],
): QueueRow[] {
  const rows = new Map<string, QueueRow>();
  for (const { queues, slots, running, draining } of workers) {
    if (draining) continue;
    for (const name of queues) {
      const known = rows.get(name) ?? { name, workers: 0, slots: 0, running: 0 };
      rows.set(name, {
        name,
        workers: known.workers + 1,
        slots: known.slots + slots,
        running: known.running + running,
      });
    }
  }
  return [...rows.values()].sort((a, b) => a.name.localeCompare(b.name));
}

export function QueuesPage() {
  const workers = useQuery(workersQuery());
  return (
    <Page title="Queues" sub="A task waits in its queue until a worker that serves it has a free slot.">
      <Card flush>
        <Loaded query={workers}>
          {({ items }) => {
            const rows = queuesOf(items);
            if (rows.length === 0) {
              return (
                <Empty title="No worker serves any queue.">
                  <code>signalbox worker --queues default</code>
                </Empty>
              );
            }
            return (
              <table className="list">
                <thead>
                  <tr>
                    <th>Queue</th>
                    <th>Served by</th>
                    <th>Slots in use</th>
                  </tr>
                </thead>
                <tbody>
                  {rows.map(({ name, workers: number, slots, running }) => (
                    <tr key={name}>
                      <td>
                        <b>{name}</b>
                      </td>
                      <td>{plural(number, 'worker')}</td>
                      <td>
                        <div className="row">
                          <div className="bar slots">
                            <i
                              className="tone-fill-busy"
                              style={{ width: `${slots === 0 ? 0 : (running / slots) * 100}%` }}
                            />
                          </div>
                          {running} of {slots}
                        </div>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            );
          }}
        </Loaded>
      </Card>
    </Page>
  );
}
