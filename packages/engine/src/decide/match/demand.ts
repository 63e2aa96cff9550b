/** How many tasks wait for a slot, by queue and priority. Gateways are told, so they lend slots where something waits (D6). */
import { PRIORITIES } from '../../model/dag/spec.ts';
import type { QueueName, TenantId, WorkerId } from '../../model/ids.ts';
import { type Request, requestKey, requestOf } from '../../model/placement.ts';
import { workerIdOf } from '../../tables/attempt/claim-of.ts';
import { BACKFILL_LANES, CLASSES } from '../../tables/queue/classes.ts';
import type { ReadyQueue } from '../../tables/queue/ready-queue.ts';
import type { State } from '../../tables/state.ts';
import { taskSpecOf } from '../../tables/task/task-slots.ts';
import { hasRoom } from '../speculative/match-speculative.ts';
import { ALONE_MS, maySpeculate } from '../speculative/watch.ts';

export interface Demand {
  readonly tenantId: TenantId;
  readonly queue: QueueName;
  /** What each of them asks of its worker; absent: a slot. */
  readonly request?: Request;
  /** Ready tasks that no limit holds back, by priority. */
  readonly counts: readonly number[];
  /** One of them has waited for room for long: the class for which a worker should be reserved. */
  readonly reserve?: number;
  /** Of gangs: the oldest run that waits, so that all gateways give their slots to one gang after the other. */
  readonly head?: number;
  /** Speculative attempts, each of which wants a slot of another worker than the one that has the slow attempt. */
  readonly apart?: readonly { readonly priority: number; readonly from: WorkerId }[];
}

const LOWEST = PRIORITIES.length - 1;

export function demandOf(state: State): Demand[] {
  const found: Demand[] = [];
  for (const queue of state.queues.values()) {
    const { tenantId, name, request } = queue;
    // Of gangs all members are counted.
    const each = request?.gang?.size ?? 1;
    const counts = PRIORITIES.map((_, priority) => queue.waitingAt(priority) * each);
    // A slot that nobody else wants is lent for a backfill.
    counts[LOWEST]! += queue.waitingAt(BACKFILL_LANES) * each;
    if (!counts.some((count) => count > 0)) continue;
    const reserve = request === null ? null : state.longWaits.classOf(queue);
    found.push({
      ...{ tenantId, queue: name, counts },
      ...(request === null ? {} : { request }),
      ...(reserve === null ? {} : { reserve }),
      ...(each === 1 ? {} : { head: headOf(queue) }),
    });
  }
  return state.speculation.wanted.size === 0 ? found : addDemand(state, found);
}

function headOf(queue: ReadyQueue): number {
  return Math.min(...CLASSES.map((priority) => queue.headAt(priority)));
}

/** What waits for a worker here is asked for as ready tasks are; for a while of other workers only. */
function addDemand(state: State, found: Demand[]): Demand[] {
  for (const [attempt, since] of state.speculation.wanted) {
    const slot = state.attempts.task[attempt]!;
    if (!maySpeculate(state, attempt) || !hasRoom(state, slot)) continue;
    const run = state.tasks.run[slot]!;
    const { tenantId } = state.runs.versionOf(run).dag;
    const { queue, placement } = taskSpecOf(state, slot);
    const request = requestOf(placement);
    const at = found.findIndex((demand) => isFor(demand, tenantId, queue, request));
    const { counts, apart = [] } = found[at] ?? { counts: PRIORITIES.map(() => 0) };
    const priority = state.runs.priority[run]!;
    const from = workerIdOf(state, attempt);
    const isPicky = state.mono - since < ALONE_MS;
    const next: Demand = {
      ...{ tenantId, queue, ...(request === null ? {} : { request }) },
      counts: isPicky ? counts : counts.with(priority, counts[priority]! + 1),
      apart: isPicky ? [...apart, { priority, from }] : apart,
    };
    if (at < 0) found.push(next);
    else found[at] = next;
  }
  return found;
}

function isFor(demand: Demand, tenantId: TenantId, queue: QueueName, request: Request | null): boolean {
  if (demand.tenantId !== tenantId || demand.queue !== queue) return false;
  const other = demand.request ?? null;
  return request === null || other === null ? request === other : requestKey(request) === requestKey(other);
}
