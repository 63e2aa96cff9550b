/** How many tasks wait in each queue. Counted on request. */
import type { State } from '@signalbox/engine';
import type { QueueWaiting } from '../peer/message.ts';

/** Also those that a limit or a breaker holds back: they are ready, and wait in their queue. */
export function waitingByQueue(state: State | null): QueueWaiting[] {
  const found = new Map<string, QueueWaiting>();
  for (const { tenantId, lanes } of state?.dags.byId.values() ?? []) {
    for (const [queue, ofQueue] of lanes) {
      const waiting = ofQueue.reduce((sum, lane) => sum + (lane?.ready ?? 0), 0);
      if (waiting > 0) add(found, { tenantId, queue, waiting });
    }
  }
  return [...found.values()];
}

/** Adds up the counts of several nodes; each reports its own shards. */
export function sumWaiting(lists: readonly (readonly QueueWaiting[])[]): QueueWaiting[] {
  const found = new Map<string, QueueWaiting>();
  for (const one of lists.flat()) add(found, one);
  return [...found.values()];
}

function add(found: Map<string, QueueWaiting>, { tenantId, queue, waiting }: QueueWaiting): void {
  const key = `${tenantId} ${queue}`;
  found.set(key, { tenantId, queue, waiting: (found.get(key)?.waiting ?? 0) + waiting });
}
