/** Puts a ready task into its lane, and tells a lane that its dag has room again. */

import type { RunRow, TaskSlot } from '../../model/ids.ts';
import { READY } from '../../model/task/task-states.ts';
import type { Dag, Version } from '../dag/dag.ts';
import { isHeldByPast } from '../past/past.ts';
import { isPaused } from '../run/paused.ts';
import { ADMITTED, BACKFILL, ENDED, OPEN } from '../run/run-table.ts';
import type { State } from '../state.ts';
import { isCall } from '../task/is-call.ts';
import { specNoOf } from '../task/task-slots.ts';
import { watchQueue } from '../timer/task-timers.ts';
import { BACKFILL_LANES } from './classes.ts';
import { Lane } from './lane.ts';

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
  lane.push(state.runs.id[run]!, slot);
  lane.ready += 1;
  lane.queue.update(lane);
}

/** The task is ready no more. Its entry stays in the lane until it comes up. */
export function leaveLane(state: State, slot: TaskSlot): void {
  const run = state.tasks.run[slot]!;
  if (!hasLanes(state, run) || isCall(state, slot) || isPaused(state, slot) || isHeldByPast(state, slot)) return;
  const lane = laneOf(state, run, slot);
  lane.ready -= 1;
  if (lane.isMostlyStale()) lane.compact((runId, other) => isReady(state, runId, other));
  lane.queue.update(lane);
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

/** After the dag's limit or its count of running tasks changed. */
export function updateLanes(dag: Dag): void {
  for (const lanes of dag.lanes.values()) {
    for (const lane of lanes) if (lane !== undefined) lane.queue.update(lane);
  }
}

function laneOf(state: State, run: RunRow, slot: TaskSlot): Lane {
  const version = state.runs.versionOf(run);
  const no = state.tasks.no[slot]!;
  const taskNo = no < version.taskCount ? no : specNoOf(state, slot);
  const priority = state.runs.has(run, BACKFILL) ? BACKFILL_LANES : state.runs.priority[run]!;
  const key = taskNo * LANES_PER_TASK + priority;
  const known = version.lanes[key];
  if (known !== undefined) return known;
  const lane = findLane(state, version, taskNo, priority);
  version.lanes[key] = lane;
  return lane;
}

function findLane(state: State, version: Version, taskNo: number, priority: number): Lane {
  const { dag } = version;
  const name = version.spec.tasks[taskNo]!.queue;
  let lanes = dag.lanes.get(name);
  if (lanes === undefined) {
    lanes = [];
    dag.lanes.set(name, lanes);
  }
  let lane = lanes[priority];
  if (lane === undefined) {
    lane = new Lane(dag, state.queues.getOrAdd(dag.tenantId, name), priority, state.tasks);
    lanes[priority] = lane;
  }
  return lane;
}
