/** Queues: what waits in each, who serves it, and how many workers it wants. */
import { keepOf, type TenantId } from '@signalbox/engine';
import {
  parseOr,
  type QueuePage,
  type QueueView,
  type ScaledIn,
  SignalboxError,
  scaleInSchema,
  type WorkerView,
} from '@signalbox/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { SeenQueues, SeenWorkers } from '../edge/messages.ts';
import { badRequest } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import type { RestParts } from './rest-parts.ts';
import { noteAsked } from './worker-history.ts';

export function queueRoutes(app: FastifyInstance, parts: RestParts): void {
  const { main, leftMs } = parts;

  app.get('/v1/queues', async (request) => {
    const { tenantId } = callerOf(request);
    const [loads, fleet, kept] = await Promise.all([
      main.queues(tenantId, leftMs(request)),
      main.workers(tenantId, leftMs(request)),
      readKept(parts, tenantId),
    ]);
    const missing = [...new Set([...loads.missing, ...fleet.missing])].sort();
    return { items: queuesOf(loads, fleet, kept), cursor: null, missing } satisfies QueuePage;
  });

  app.post('/v1/queues/:name/scale-in', async (request: FastifyRequest<{ Params: { name: string } }>) => {
    const { name } = request.params;
    const { to } = parseOr(scaleInSchema, request.body, 'BAD_REQUEST');
    return once<ScaledIn>(request, parts, {
      target: name,
      body: request.body,
      make: async (_key, again) => {
        const { tenantId } = callerOf(request);
        const { workers, missing } = await main.workers(tenantId, leftMs(request));
        // Workers that are not seen would be kept beyond the number, and those that are seen drained in their place.
        if (missing.length > 0)
          throw new SignalboxError('UNAVAILABLE', { reason: `${missing.join(', ')} gave no answer` });
        // Who was told before may be gone by now.
        if (!again && !workers.some(({ queues }) => queues.includes(name)))
          throw badRequest('name', `is "${name}", and no worker of yours serves a queue of that name`);
        const serving = workers.filter((one) => one.queues.includes(name) && !one.draining && one.cordoned !== true);
        const drained: ScaledIn['drained'] = [];
        for (const worker of leastBusy(serving).slice(0, Math.max(0, serving.length - to))) {
          if (!(await main.drain({ tenantId, workerId: worker.id as never }, leftMs(request)))) continue;
          drained.push({ id: worker.id, name: worker.name, running: worker.running });
          await noteAsked(request, parts, { kind: 'drain_asked', workerId: worker.id, details: { scaleIn: name } });
        }
        return { queue: name, workers: serving.length - drained.length, drained };
      },
    });
  });
}

/** Slots of each queue that are kept now, from dags of this tenant. A view is shown without them rather than not at all. */
async function readKept({ queries }: RestParts, tenantId: TenantId): Promise<ReadonlyMap<string, number>> {
  const sums = new Map<string, number>();
  const rules = await queries.readKept().catch(() => []);
  for (const { limit, slots } of rules) {
    const keep = keepOf(limit);
    if ((keep.dagId === null) === (keep.tenantId === tenantId)) continue;
    for (const queue of keep.queues) sums.set(queue, (sums.get(queue) ?? 0) + slots);
  }
  return sums;
}

/** Idle ones first; among equals the one with fewer slots, which is missed less. */
function leastBusy(workers: readonly WorkerView[]): WorkerView[] {
  return [...workers].sort((a, b) => a.running - b.running || a.slots - b.slots || (a.id < b.id ? -1 : 1));
}

/** A worker that drains or is cordoned takes nothing new, so it serves none. */
function queuesOf({ queues }: SeenQueues, { serving }: SeenWorkers, kept: ReadonlyMap<string, number>): QueueView[] {
  const capacity = new Map<string, { workers: number; slots: number }>();
  for (const { queues: names, slots, draining, cordoned = false } of serving) {
    if (draining || cordoned) continue;
    for (const name of names) {
      const known = capacity.get(name) ?? { workers: 0, slots: 0 };
      capacity.set(name, { workers: known.workers + 1, slots: known.slots + slots });
    }
  }
  const loads = new Map(queues.map((load) => [load.queue as string, load]));
  const names = [...new Set([...capacity.keys(), ...loads.keys()])].sort();
  return names.map((name) => {
    const { workers, slots } = capacity.get(name) ?? { workers: 0, slots: 0 };
    const { waiting, held, running, oldestMs, startsPerMinute } = loads.get(name) ?? NOTHING;
    const startable = waiting - held;
    // Others have what workers have beyond the kept slots.
    const wanted = startable + running + (kept.get(name) ?? 0);
    return {
      ...{ name, waiting, held, running, workers, slots, oldestMs },
      startsPerMinute: Math.round(startsPerMinute * 10) / 10,
      drainMs: startable === 0 ? 0 : startsPerMinute === 0 ? null : Math.round((startable * 60_000) / startsPerMinute),
      wantedWorkers: workers === 0 ? null : Math.ceil((wanted * workers) / slots),
    };
  });
}

const NOTHING = { waiting: 0, held: 0, running: 0, oldestMs: null, startsPerMinute: 0 } as const;
