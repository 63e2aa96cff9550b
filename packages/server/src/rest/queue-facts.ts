/** Which workers serve which queue. The servers are asked when a view contains tasks that wait for a worker. */
import {
  type Amounts,
  hasAmounts,
  type Misfit,
  misfitOf,
  type Request,
  requestKey,
  type TenantId,
  type WorkerTraits,
} from '@signalbox/engine';
import type { ServingWorker } from '../edge/messages.ts';
import type { RestParts } from './rest-parts.ts';
import type { FitFact, QueueFacts } from './why.ts';

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

/** What it is and has, where it is not too old to tell. */
export function traitsOf({ slots, resources = {}, labels = {} }: ServingWorker): WorkerTraits {
  return { slots, resources, labels };
}

function fitOf(workers: readonly ServingWorker[], request: Request, queue: string): FitFact {
  const fitting = workers.filter((worker) => misfitOf(request, traitsOf(worker)) === null);
  if (fitting.length === 0) return { kind: 'never', lacks: lacksOf(workers, request) };
  const isOwn = ({ reservedFor }: ServingWorker) =>
    reservedFor?.queue === queue && reservedFor.key === requestKey(request);
  const open = fitting.filter((worker) => worker.reservedFor === undefined || isOwn(worker));
  const reserved = fitting.some(isOwn) ? 'own' : open.length < fitting.length ? 'others' : null;
  const { gang } = request;
  if (gang !== undefined) {
    const inAll = sumOf(fitting, ({ slots, resources = {} }) => placesOf(request, slots, resources));
    if (inAll < gang.size) return { kind: 'few', gang, places: inAll };
    const places = sumOf(open, ({ slots, running, free = {} }) =>
      request.exclusive && running > 0 ? 0 : placesOf(request, slots - running, free),
    );
    return places >= gang.size ? { kind: 'fits' } : { kind: 'gang', gang, places, reserved };
  }
  const busy = { kind: 'busy', workers: fitting.length, reserved } as const;
  if (request.exclusive) {
    const isIdle = open.some(({ running }) => running === 0);
    return isIdle ? { kind: 'fits' } : { ...busy, short: null };
  }
  if (open.some(({ free = {} }) => hasAmounts(free, request.resources))) return { kind: 'fits' };
  const short = Object.entries(request.resources)
    .map(([name, amount]) => ({ name, amount, most: Math.max(0, ...fitting.map(({ free }) => free?.[name] ?? 0)) }))
    .find(({ amount, most }) => most < amount);
  return { ...busy, short: short ?? null };
}

/** How many members of a gang could begin on a worker with so much left. */
function placesOf({ gang, exclusive, resources }: Request, slots: number, room: Amounts): number {
  let places = Math.max(0, slots);
  for (const name in resources) places = Math.min(places, Math.floor((room[name] ?? 0) / (resources[name] ?? 1)));
  return gang?.share === true && !exclusive ? places : Math.min(1, places);
}

function sumOf(workers: readonly ServingWorker[], count: (worker: ServingWorker) => number): number {
  return workers.reduce((sum, worker) => sum + count(worker), 0);
}

/** What no worker has; empty when each part is there, and nowhere all of them. */
function lacksOf(workers: readonly ServingWorker[], request: Request): Misfit[] {
  const found: Misfit[] = [];
  const alone: Request[] = [
    ...Object.entries(request.labels).map(([name, value]) => ({ ...EMPTY, labels: { [name]: value } })),
    ...Object.entries(request.resources).map(([name, amount]) => ({ ...EMPTY, resources: { [name]: amount } })),
    ...(request.noSpot ? [{ ...EMPTY, noSpot: true }] : []),
  ];
  for (const one of alone) {
    const misfits = workers.map((worker) => misfitOf(one, traitsOf(worker)));
    const [first] = misfits;
    if (first === undefined || first === null || misfits.some((misfit) => misfit === null)) continue;
    const most = Math.max(...misfits.map((misfit) => (misfit?.kind === 'resource' ? misfit.most : 0)));
    found.push(first.kind === 'resource' ? { ...first, most } : first);
  }
  return found;
}

const EMPTY: Request = { resources: {}, labels: {}, exclusive: false, noSpot: false };

export function queueFacts(workers: readonly ServingWorker[]): QueueFacts {
  const taking = workers.filter(({ draining, cordoned = false }) => !draining && !cordoned);
  const byQueue = new Map<string, { slots: number; running: number; reserved: number }>();
  for (const { queues, slots, running, reservedFor } of taking) {
    const kept = reservedFor === undefined ? 0 : Math.max(0, slots - running);
    for (const queue of queues) {
      const known = byQueue.get(queue) ?? { slots: 0, running: 0, reserved: 0 };
      const sums = { slots: known.slots + slots, running: known.running + running, reserved: known.reserved + kept };
      byQueue.set(queue, sums);
    }
  }
  return {
    slotsOf: (queue) => byQueue.get(queue) ?? null,
    fitOf: (queue, request) =>
      fitOf(
        taking.filter(({ queues }) => queues.includes(queue)),
        request,
        queue,
      ),
  };
}
