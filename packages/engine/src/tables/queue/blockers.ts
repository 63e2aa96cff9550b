/**
 * What holds back waiting work, by what the matcher itself looks at: lanes, their limits, and whether their queue is held. Counted on
 * request, over all lanes of this engine.
 */
import { type Instant, instantOfRun, type RunId, type TenantId } from '../../model/ids.ts';
import { isKept, isPool, isStarts, keepOf, type LimitName, shownLimit, startsOf } from '../../model/limit.ts';
import { type Request, requestKey } from '../../model/placement.ts';
import type { Dag } from '../dag/dag.ts';
import { Hold } from '../limit/hold.ts';
import type { LaneHold } from '../limit/limit-table.ts';
import { RateLimit } from '../limit/rate-limit.ts';
import type { State } from '../state.ts';
import type { Lane } from './lane.ts';

/**
 * As the reasons of single tasks are called; `workers_busy`: only workers are missing, `no_room`: or room on them; `gang`: of a single
 * task, whose gang is not complete.
 */
export type BlockerCode =
  | 'frozen'
  | 'halted'
  | 'breaker'
  | 'limit'
  | 'task_limit'
  | 'run_limit'
  | 'rate'
  | 'pool_full'
  | 'cap_full'
  | 'reserved'
  | 'workers_busy'
  | 'no_room'
  | 'gang'
  | 'run_queued'
  | 'run_key';

export interface Blocker {
  readonly code: BlockerCode;
  /** `dag:etl`, `pool:database`, `queue:default`, `tenant`, `cluster`. */
  readonly subject: string;
  /** Tasks that wait for it; of `run_queued` and `run_key` runs. */
  readonly count: number;
  /** When the oldest run of them was created, to the second. */
  readonly since: Instant;
  /** Of a pool: what the smallest of them takes. */
  readonly slots?: number;
  /** Of `no_room`: what they ask of a worker. */
  readonly request?: Request;
  /** Of slots that are kept: what the others share. Of a rate over several dags: which. */
  readonly limit?: LimitName;
  /** Of a rate: when the next of them may start. */
  readonly until?: Instant;
}

export type LaneBlocker = Omit<Blocker, 'count' | 'since'>;

export function blockersOf(state: State, tenantId: TenantId): Blocker[] {
  const found = new Map<string, Blocker>();
  for (const dag of state.dags.byId.values()) {
    if (dag.tenantId !== tenantId) continue;
    for (const lane of [...dag.lanes.values()].flat())
      if (lane !== undefined && lane.ready > 0)
        addBlocker(found, {
          ...blockerOf(state, dag, lane),
          count: lane.ready * lane.gangSize,
          since: sinceOf(lane.headRunId()),
        });
    const [oldest] = dag.waitingRuns.first(1);
    if (oldest !== undefined) {
      const count = dag.waitingRuns.size;
      addBlocker(found, { code: 'run_queued', subject: `dag:${dag.name}`, count, since: sinceOf(oldest) });
    }
    const held = state.runKeys.heldOf(dag.id);
    if (held.oldest !== undefined)
      addBlocker(found, {
        code: 'run_key',
        subject: `dag:${dag.name}`,
        count: held.count,
        since: sinceOf(held.oldest),
      });
  }
  return [...found.values()];
}

/** Adds up those of the same kind, over lanes or nodes. */
export function addBlocker(found: Map<string, Blocker>, one: Blocker): void {
  const key = `${one.code} ${one.subject} ${one.request === undefined ? '' : requestKey(one.request)}`;
  const known = found.get(key);
  const since = Math.min(one.since, known?.since ?? one.since) as Instant;
  const slots = Math.min(one.slots ?? 1, known?.slots ?? one.slots ?? 1);
  found.set(key, { ...one, count: one.count + (known?.count ?? 0), since, ...(one.slots !== undefined && { slots }) });
}

function sinceOf(runId: number): Instant {
  return instantOfRun(runId as RunId);
}

/** The first thing that keeps the lane from its queue, in the order in which it is looked at. */
function blockerOf(state: State, dag: Dag, lane: Lane): LaneBlocker {
  const { name, request } = lane.queue;
  const subject = `queue:${name}`;
  const forWorkers =
    request === null ? { code: 'workers_busy' as const, subject } : { code: 'no_room' as const, subject, request };
  return blockersOfLane(state, dag, lane)[0] ?? forWorkers;
}

/** All that keeps the lane from its queue. Without any, the matcher claims from it once a worker has a slot. */
export function blockersOfLane(state: State, dag: Dag, lane: Lane): LaneBlocker[] {
  const ofDag = `dag:${dag.name}`;
  const found: LaneBlocker[] = [];
  if (dag.isHalted) found.push({ code: 'halted', subject: ofDag });
  if (dag.isFrozen) found.push({ code: 'frozen', subject: ofDag });
  if (lane.queue.isHeld) found.push({ code: 'frozen', subject: `queue:${lane.queue.name}` });
  if (dag.isHeldByBreaker()) found.push({ code: 'breaker', subject: ofDag });
  if (dag.isAtTaskLimit(lane.gangSize)) found.push({ code: 'limit', subject: ofDag });
  for (const { hold, slots: ofTask, passes } of lane.holds) {
    const slots = ofTask * lane.gangSize;
    if (passes === undefined && !hold.hasRoom(slots)) found.push(fullLimit(state, { hold, slots }, ofDag));
  }
  return found;
}

/** When the next start of this shard counts no more; null: others have all that may start. */
function nextStartAt({ rates, now, mono }: State, { shard, name }: Hold): Instant | null {
  const counter = rates.find(shard, name);
  return counter === undefined || counter.isIdle ? null : ((now + counter.waitMs(counter.count - 1, mono)) as Instant);
}

/** What a limit is called where people read of it, whether it has room or not. */
export function subjectOfHold({ name }: Pick<LaneHold['hold'], 'name'>, ofDag: string): string {
  const [kind, , ...rest] = name.split('/');
  const ofTask = rest.length === 0 ? ofDag : `${ofDag} task:${rest.join('/')}`;
  if (kind === 'task') return ofTask;
  if (kind === 'run') return `each run of ${ofDag}`;
  return kind === 'rate' ? `rate of ${ofTask}` : shownLimit(name);
}

function fullLimit(state: State, { hold, slots }: LaneHold, ofDag: string): LaneBlocker {
  const { name } = hold;
  const [kind, , ...rest] = name.split('/');
  const task = rest.join('/');
  if (kind === 'task') return { code: 'task_limit', subject: `${ofDag} task:${task}` };
  if (kind === 'run') return { code: 'run_limit', subject: ofDag };
  if (isStarts(name)) {
    const until = hold instanceof Hold ? nextStartAt(state, hold) : null;
    return { code: 'rate', subject: shownLimit(startsOf(name).of), limit: name, ...(until !== null && { until }) };
  }
  if (hold instanceof RateLimit) {
    const until = hold.roomAt(state);
    return { code: 'rate', subject: task === '' ? ofDag : `${ofDag} task:${task}`, ...(until !== null && { until }) };
  }
  if (isKept(name)) return { code: 'reserved', subject: `queue:${keepOf(name).queues.join(',')}`, limit: name };
  return isPool(name)
    ? { code: 'pool_full', subject: shownLimit(name), slots }
    : { code: 'cap_full', subject: shownLimit(name) };
}
