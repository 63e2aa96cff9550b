/** Which workers serve which queue. The servers are asked when a view contains tasks that wait for a worker. */
import type { TenantId } from '@signalbox/engine';
import type { WorkerView } from '@signalbox/protocol';
import type { RestParts } from './rest-parts.ts';
import type { QueueFacts } from './why.ts';

/** A view is shown without it rather than late. */
const PATIENCE_MS = 1_000;

/** Null when not all servers answered: a worker that is not seen may be there. */
export async function readQueueFacts({ main }: RestParts, tenantId: TenantId): Promise<QueueFacts | null> {
  try {
    const { workers, missing } = await main.workers(tenantId, PATIENCE_MS);
    return missing.length > 0 ? null : queueFacts(workers);
  } catch {
    return null;
  }
}

export function queueFacts(workers: readonly WorkerView[]): QueueFacts {
  const byQueue = new Map<string, { slots: number; running: number }>();
  for (const { queues, slots, running, draining } of workers) {
    if (draining) continue; // takes nothing new
    for (const queue of queues) {
      const known = byQueue.get(queue) ?? { slots: 0, running: 0 };
      byQueue.set(queue, { slots: known.slots + slots, running: known.running + running });
    }
  }
  return { slotsOf: (queue) => byQueue.get(queue) ?? null };
}
