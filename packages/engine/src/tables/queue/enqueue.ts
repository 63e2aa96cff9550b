/** Puts a ready task into its lane, and tells a lane that its dag has room again. */

import type { RateSpec, TaskSpec } from '../../model/dag/spec.ts';
import type { RunRow, TaskSlot } from '../../model/ids.ts';
import { type LimitName, rateLimit } from '../../model/limit.ts';
import { requestKey, requestOf } from '../../model/placement.ts';
import { READY } from '../../model/task/task-states.ts';
import type { Dag, Version } from '../dag/dag.ts';
import type { LaneHold } from '../limit/limit-table.ts';
import { isHeldByPast } from '../past/past.ts';
import { isPaused } from '../run/paused.ts';
import { ADMITTED, BACKFILL, ENDED, OPEN } from '../run/run-table.ts';
import type { State } from '../state.ts';
import { firstOfGang, isMember, membersOf } from '../task/gang.ts';
import { isCall } from '../task/is-call.ts';
import { specNoOf } from '../task/task-slots.ts';
import { watchQueue } from '../timer/task-timers.ts';
import { BACKFILL_LANES } from './classes.ts';
import { Lane } from './lane.ts';
import type { ReadyQueue } from './ready-queue.ts';
import { Turn } from './turn.ts';

/** One for each priority, and one for runs of backfills. */
const LANES_PER_TASK = BACKFILL_LANES + 1;

/** Puts a ready task into its lane, unless its run may not run yet, somebody has paused it, or it waits for the window before. */
export function enqueue(state: State, slot: TaskSlot): void {
  const run = state.tasks.run[slot]!;
  if (!hasLanes(state, run)) return;
  // Its time in the queue begins when the past lets it go.
  if (isHeldByPast(state, slot)) return;
  const mayBegin = !isPaused(state, slot);
  if (isCall(state, slot)) {
    if (mayBegin) state.agenda.calls.add(slot);
    return;
  }
  if (mayBegin) pushToLane(state, run, slot);
  // The time in the queue runs during a pause. It is stored from the beginning, because the row may still have the instant of an
  // earlier wait, which a load could not tell from this one (I19).
  if (state.runs.versionOf(run).watchesQueue) watchQueue(state, slot);
}

function pushToLane(state: State, run: RunRow, slot: TaskSlot): void {
  const lane = laneOf(state, run, slot);
  if (lane.gangSize > 1) return pushGang(state, lane, slot);
  lane.push(state.runs.id[run]!, slot);
  lane.ready += 1;
  lane.queue.update(lane);
}

/** A gang is in its lane, by its first member, while all of its members are ready. */
function pushGang(state: State, lane: Lane, slot: TaskSlot): void {
  const members = membersOf(state, slot);
  const first = members?.[0];
  if (members === null || first === undefined || state.gangs.has(first)) return;
  const runId = state.runIdOfTask(slot);
  if (!members.every((member) => isReady(state, runId, member))) return;
  state.gangs.set(first, lane);
  lane.push(runId, first);
  lane.ready += 1;
  lane.queue.update(lane);
}

/** With the first member that is ready no more the gang is not. */
function leaveGang(state: State, slot: TaskSlot): void {
  const first = firstOfGang(state, slot);
  const lane = state.gangs.get(first);
  if (lane === undefined) return;
  state.gangs.delete(first);
  leave(state, lane);
}

function leave(state: State, lane: Lane): void {
  lane.ready -= 1;
  if (lane.isMostlyStale()) lane.compact((runId, other) => isReadyIn(state, lane, runId, other));
  lane.queue.update(lane);
}

/** A ready task whose lane is another one now. It is in no other lane. */
export function enterLane(state: State, slot: TaskSlot): void {
  const run = state.tasks.run[slot]!;
  if (!hasLanes(state, run) || isCall(state, slot) || isPaused(state, slot) || isHeldByPast(state, slot)) return;
  pushToLane(state, run, slot);
}

/** The task is ready no more. Its entry stays in the lane until it comes up. */
export function leaveLane(state: State, slot: TaskSlot): void {
  const run = state.tasks.run[slot]!;
  if (state.gangs.size > 0 && isMember(state, slot)) return leaveGang(state, slot);
  if (!hasLanes(state, run) || isCall(state, slot) || isPaused(state, slot) || isHeldByPast(state, slot)) return;
  const lane = laneOf(state, run, slot);
  if (lane.gangSize === 1) leave(state, lane);
}

/**
 * Whether the ready tasks of a run are in lanes. One that is closed before it was admitted is not admitted any more: what is
 * left to do for it does not wait.
 */
function hasLanes({ runs }: State, run: RunRow): boolean {
  return runs.phase[run] === OPEN ? runs.has(run, ADMITTED) : runs.phase[run] !== ENDED;
}

/** An entry may be left from before its run ended and was opened again: it counts only if it would be put there today (I7). */
export function isReady(state: State, runId: number, slot: TaskSlot): boolean {
  const run = state.tasks.run[slot]!;
  if (run < 0 || state.tasks.state[slot] !== READY) return false;
  return state.runs.id[run] === runId && hasLanes(state, run) && !isPaused(state, slot) && !isHeldByPast(state, slot);
}

/** The same of an entry of this lane: it may also be left from before the priority of its run was changed. */
export function isReadyIn(state: State, lane: Lane, runId: number, slot: TaskSlot): boolean {
  if (lane.gangSize > 1 && state.gangs.get(slot) !== lane) return false;
  return isReady(state, runId, slot) && classOf(state, state.tasks.run[slot]!) === lane.priority;
}

function classOf({ runs }: State, run: RunRow): number {
  return runs.has(run, BACKFILL) ? BACKFILL_LANES : runs.priority[run]!;
}

/** After the dag's limit or its count of running tasks changed. */
export function updateLanes(dag: Dag): void {
  for (const lanes of dag.lanes.values()) {
    for (const lane of lanes) if (lane !== undefined) lane.queue.update(lane);
  }
}

/** The task takes what its lane says of limits, or gives it back. */
export function countSlots(state: State, slot: TaskSlot, by: 1 | -1): void {
  for (const { hold, slots } of laneOf(state, state.tasks.run[slot]!, slot).holds) hold.use(by * slots);
}

export function laneOf(state: State, run: RunRow, slot: TaskSlot): Lane {
  const version = state.runs.versionOf(run);
  const no = state.tasks.no[slot]!;
  const taskNo = no < version.taskCount ? no : specNoOf(state, slot);
  const priority = classOf(state, run);
  const { maxActiveTasksPerRun } = version.spec;
  if (maxActiveTasksPerRun !== undefined) return laneOfRun(state, run, taskNo, priority, maxActiveTasksPerRun);
  const key = taskNo * LANES_PER_TASK + priority;
  const known = version.lanes[key];
  if (known !== undefined) return known;
  const lane = findLane(state, version, taskNo, priority);
  version.lanes[key] = lane;
  return lane;
}

function findLane(state: State, version: Version, taskNo: number, priority: number): Lane {
  const { dag } = version;
  const task = version.spec.tasks[taskNo]!;
  const key = laneKey(task);
  return dag.lanes.get(key)?.[priority] ?? addLane(state, dag, { key, task, priority, own: ofTask(state, dag, task) });
}

/** Where the tasks of each run are limited, each run has lanes of its own: one at its limit is in nobody's way (I47). */
function laneOfRun(state: State, run: RunRow, taskNo: number, priority: number, most: number): Lane {
  const version = state.runs.versionOf(run);
  const { dag } = version;
  const task = version.spec.tasks[taskNo]!;
  const runId = state.runs.id[run]!;
  const key = `${laneKey(task)} of ${runId}`;
  const known = dag.lanes.get(key)?.[priority];
  if (known !== undefined) return known;
  const { limit, laneKeys } = state.limits.ofRun(run, runId, most);
  laneKeys.push(key);
  return addLane(state, dag, { key, task, priority, own: [...ofTask(state, dag, task), { hold: limit, slots: 1 }] });
}

/** The run leaves, and its lanes with it. */
export function forgetLanes(state: State, run: RunRow): void {
  const { dag } = state.runs.versionOf(run);
  for (const key of state.limits.forgetRun(run)) {
    for (const lane of dag.lanes.get(key) ?? []) {
      lane?.clear();
      lane?.update();
    }
    dag.lanes.delete(key);
  }
}

interface NewLane {
  readonly key: string;
  readonly task: TaskSpec;
  readonly priority: number;
  readonly own: Lane['own'];
}

function addLane(state: State, dag: Dag, { key, task, priority, own }: NewLane): Lane {
  const queue = state.queues.getOrAdd(dag.tenantId, task.queue, requestOf(task.placement));
  const lane = new Lane(dag, queue, { priority, turn: turnIn(dag, queue, priority) }, state.tasks);
  lane.pool = task.pool;
  lane.own = own;
  lane.holds = holdsOf(state, dag, lane);
  const lanes = dag.lanes.get(key) ?? [];
  lanes[priority] = lane;
  dag.lanes.set(key, lanes);
  return lane;
}

/** All lanes of a dag in a queue and class have one turn among other dags. */
function turnIn({ turns }: Dag, queue: ReadyQueue, priority: number): Turn<Lane> {
  const ofQueue = turns.get(queue) ?? [];
  turns.set(queue, ofQueue);
  return (ofQueue[priority] ??= new Turn());
}

function ofTask(state: State, dag: Dag, { name, maxActive, rate }: TaskSpec): Lane['own'] {
  if (maxActive === undefined && rate === undefined) return NO_LIMITS;
  const own: LaneHold[] = [];
  if (maxActive !== undefined) own.push({ hold: dag.limitOfTask(name, maxActive), slots: 1 });
  if (rate !== undefined) own.push({ hold: rateOf(state, dag, name, rate), slots: 1 });
  return own;
}

/** Of a task, or (null) of all tasks of the dag. */
function rateOf(state: State, dag: Dag, task: string | null, own: RateSpec | null = null): LaneHold['hold'] {
  return state.rates.attach(dag.shard, rateLimit(dag.id, task), () => dag.rateOf(task, own));
}

/** After another version has become the current one: the dag may have a rate now, another one, or none any more. */
export function settleRates(state: State, dag: Dag): void {
  for (const lanes of dag.lanes.values()) for (const lane of lanes) lane?.setHolds(holdsOf(state, dag, lane));
  for (const lanes of dag.lanes.values())
    for (const lane of lanes) for (const { hold } of lane?.holds ?? []) state.rates.settle(hold.name);
}

/** The dag leaves memory: its queues and limits know it no more. */
export function dropLanes(state: State, dag: Dag): void {
  const names = new Set<LimitName>();
  for (const lanes of dag.lanes.values()) {
    for (const lane of lanes) {
      for (const { hold } of lane?.holds ?? []) names.add(hold.name);
      lane?.clear();
      lane?.update();
    }
  }
  if (state.rates.isUsed) for (const name of names) state.rates.detach(name);
}

const NO_LIMITS: Lane['own'] = [];

/** Tasks under other limits, or with other requests, wait apart: what holds back one must not hold back the other (I47). */
function laneKey({ name, queue, pool, maxActive, rate, placement }: TaskSpec): string {
  const request = requestOf(placement);
  if (pool === undefined && maxActive === undefined && rate === undefined && request === null) return queue;
  const own = maxActive === undefined && rate === undefined ? [] : [name, maxActive, rate !== undefined];
  const asked = request === null ? [] : [requestKey(request)];
  return JSON.stringify([queue, pool?.name, pool?.slots, ...own, ...asked]);
}

/** What a task of the lane takes of limits. */
export function holdsOf(state: State, dag: Dag, { queue, pool, own, priority }: Lane): Lane['holds'] {
  const { shard, tenantId, id: dagId } = dag;
  const spanning = state.limits.takenBy({ shard, tenantId, dagId, priority, queue: queue.name, pool });
  const ofDag = dag.current.spec.rate === undefined ? own : [...own, { hold: rateOf(state, dag, null), slots: 1 }];
  return ofDag.length === 0 ? spanning : [...ofDag, ...spanning];
}
