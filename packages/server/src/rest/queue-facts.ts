/** Which workers serve which queue. The servers are asked when a view contains tasks that wait for a worker. */
import type { TenantId } from '@signalbox/engine';
import type { ServingWorker } from '../edge/messages.ts';
import type { RestParts } from './rest-parts.ts';
import type { QueueFacts } from './why.ts';

/** A view is shown without it rather than late. */
const PATIENCE_MS = 1_000;

/** Null when not all servers answered: a worker that is not seen may be there. */
export async function readQueueFacts({ main }: RestParts, tenantId: TenantId): Promise<QueueFacts | null> {
  try {
    const { serving, missing } = await main.workers(tenantId, PATIENCE_MS);
    return missing.length > 0 ? null : queueFacts(serving);
  } catch {
    return null;
  }
}

export function queueFacts(workers: readonly ServingWorker[]): QueueFacts {
  const byQueue = new Map<string, { slots: number; running: number }>();
  for (const { queues, slots, running, draining, cordoned = false } of workers) {
    if (draining || cordoned) continue; // takes nothing new
    for (const queue of queues) {
      const known = byQueue.get(queue) ?? { slots: 0, running: 0 };
      byQueue.set(queue, { slots: known.slots + slots, running: known.running + running });
    }
  }
  return { slotsOf: (queue) => byQueue.get(queue) ?? null };
}
