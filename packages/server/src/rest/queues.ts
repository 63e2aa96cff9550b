/** Queues: what waits in each, and who serves it. */
import type { QueuePage, QueueView } from '@signalbox/protocol';
import type { FastifyInstance } from 'fastify';
import type { SeenWorkers } from '../edge/messages.ts';
import { callerOf } from './guards.ts';
import type { RestParts } from './rest-parts.ts';

export function queueRoutes(app: FastifyInstance, { main, leftMs }: RestParts): void {
  app.get('/v1/queues', async (request) => {
    const seen = await main.workers(callerOf(request).tenantId, leftMs(request));
    return { items: queuesOf(seen), cursor: null, missing: [...seen.missing] } satisfies QueuePage;
  });
}

/** A worker that drains takes nothing new, so it serves none. */
function queuesOf({ serving, waiting }: SeenWorkers): QueueView[] {
  const found = new Map<string, QueueView>();
  const of = (name: string) => found.get(name) ?? { name, waiting: 0, workers: 0, slots: 0, running: 0 };
  for (const [name, count] of waiting) found.set(name, { ...of(name), waiting: count });
  for (const { queues, slots, running, draining } of serving) {
    if (draining) continue;
    for (const name of queues) {
      const known = of(name);
      found.set(name, {
        ...known,
        workers: known.workers + 1,
        slots: known.slots + slots,
        running: known.running + running,
      });
    }
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
