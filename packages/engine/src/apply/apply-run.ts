import { assert } from '../model/assert.ts';
import type {
  RunAdmitted,
  RunClosing,
  RunCreated,
  RunEnded,
  RunForced,
  RunReopened,
  RunStruck,
} from '../model/change.ts';
import { PRIORITIES } from '../model/dag/spec.ts';
import { type Instant, type RunRow, type ScheduleNo, scheduleIdOf, shardOfRun } from '../model/ids.ts';
import { RUN_OUTCOMES } from '../model/run/phase.ts';
import { notesCreated, readRunNotes } from '../model/run/run-notes.ts';
import { CANCELLED, READY, RETRYING } from '../model/task/task-states.ts';
import { windowName } from '../model/window-name.ts';
import {
  beginClosing,
  cancelUnbegun,
  moveTask,
  settleAnew,
  settleClosingTasks,
  settleStart,
} from '../propagate/move.ts';
import { resetCounts } from '../propagate/run-tasks-view.ts';
import { watchMaps } from '../propagate/watch-maps.ts';
import { removeAttempt } from '../tables/attempt/attempts.ts';
import { attemptsOfTask } from '../tables/attempt/find-attempt.ts';
import { countLive } from '../tables/backfill/backfills.ts';
import type { Dag } from '../tables/dag/dag.ts';
import { holdForPast } from '../tables/past/past.ts';
import { enqueue, leaveLane } from '../tables/queue/enqueue.ts';
import { waitForRequirements } from '../tables/requires/wait.ts';
import { ADMITTED, BACKFILL, CLOSING, ENDED, FORCED, HAS_PARAMS, OPEN, SET_ASIDE } from '../tables/run/run-table.ts';
import type { State } from '../tables/state.ts';
import { isClosingTask } from '../tables/task/may-run.ts';
import { hasOwnState } from '../tables/task/task-notes.ts';
import { forEachSlot, taskNoOf } from '../tables/task/task-slots.ts';
import { slotAt } from '../tables/task/task-table.ts';
import { watchRun, watchRunAnew } from '../tables/timer/run-timers.ts';
import { watchTotal } from '../tables/timer/task-timers.ts';
import { watchBackoffAgain } from '../tables/timer/watch-backoff.ts';

type RunChange = RunCreated | RunAdmitted | RunClosing | RunForced | RunEnded | RunReopened | RunStruck;

export function applyRunChange(state: State, change: RunChange): void {
  if (change.kind === 'RunCreated') return createRun(state, change);
  const run = state.runs.find(change.runId);
  // A run that can't be loaded is struck all the same.
  if (run < 0 && change.kind === 'RunStruck') return;
  assert(run >= 0, `${change.kind} is about a run in memory`);
  switch (change.kind) {
    case 'RunAdmitted':
      return admitRun(state, run, change);
    case 'RunClosing':
      return closeRun(state, run, change);
    case 'RunForced':
      return forceRun(state, run);
    case 'RunEnded':
      return endRun(state, run);
    case 'RunReopened':
      return reopenRun(state, run, change);
    case 'RunStruck':
      return strikeRun(state, run, change);
  }
}

function createRun(state: State, change: RunCreated): void {
  const { runs, tasks } = state;
  const dag = state.dags.get(change.dagId);
  const deployed = dag?.versions.get(change.versionNo);
  assert(dag !== undefined && deployed !== undefined, 'a run is created of a version in memory');
  const version = deployed.upTo(change.until);
  assert(runs.find(change.runId) < 0, 'a run is created once');
  const run = runs.add(change.runId, change.uid, version);
  runs.createdAt[run] = change.at;
  runs.priority[run] = PRIORITIES.indexOf(change.priority);
  runs.flags[run] =
    (change.admitted ? ADMITTED : 0) |
    (change.params === null ? 0 : HAS_PARAMS) |
    (change.backfill === undefined ? 0 : BACKFILL);
  const { notes } = notesCreated(change);
  if (notes !== undefined) runs.notes.set(run, readRunNotes(notes));
  if (change.firesAt !== null) noteWindow(state, run, change.firesAt, change);
  if (change.backfill !== undefined) countLive(state, run, 1);
  const { graph, taskCount } = version;
  const base = tasks.allocate(version.room, run);
  runs.base[run] = base;
  for (let no = 0; no < taskCount; no++) {
    if (graph.isPlain) tasks.unmet[slotAt(base, no)] = graph.upstreamCount[no]!;
    else resetCounts(tasks, slotAt(base, no), graph.upstreamCount[no]!);
  }
  deployed.liveRuns += 1;
  dag.liveRuns += 1;
  dag.liveTasks += runs.size[run]!;
  runs.setSchedule(run, change.scheduleNo);
  if (change.parent !== undefined) {
    runs.setParent(run, change.parent);
    dag.liveChildren += 1;
  }
  if (change.admitted) dag.activeRuns += 1;
  else if (change.requires !== undefined) waitForRequirements(state, run);
  else {
    dag.waitingRuns.push(change.runId);
    state.agenda.dags.add(dag);
  }
  if (version.pastTasks.length > 0) holdForPast(state, run, undefined, state.batchNo);
  if (taskCount === 0) state.agenda.runs.add(run);
  if (change.facts !== null) runs.factsOf(run).setParams(change.facts);
  if (change.admitted) watchRun(state, run, change.at);
  settleStart(state, run);
  const shard = state.shards.get(shardOfRun(change.runId));
  if (shard !== undefined && change.runId > shard.lastRunId) shard.lastRunId = change.runId;
}

/** Runs of older versions do not name theirs. */
const FIRST_SCHEDULE = 1 as ScheduleNo;

function noteWindow(
  state: State,
  run: RunRow,
  at: Instant,
  { runId, uid, dagId, scheduleNo = FIRST_SCHEDULE, windowStart: start }: RunCreated,
): void {
  // Rows of older versions have no start.
  state.runs.windows.set(run, at, start ?? at);
  state.recentWindows.set(windowName(scheduleIdOf({ dagId, scheduleNo }), at), { runId, uid, batchNo: state.batchNo });
}

function admitRun(state: State, run: RunRow, change: RunAdmitted): void {
  const { runs } = state;
  assert(!runs.has(run, ADMITTED), 'a run is admitted once');
  runs.flags[run]! |= ADMITTED;
  const version = runs.versionOf(run);
  version.dag.activeRuns += 1;
  watchRunAnew(state, run, change.at);
  enqueueReady(state, run);
  if (version.graph.maps !== null) watchMaps(state, run);
}

function enqueueReady(state: State, run: RunRow): void {
  forEachSlot(state, run, (slot) => {
    if (state.tasks.state[slot] === READY) enqueue(state, slot);
  });
}

function closeRun(state: State, run: RunRow, change: RunClosing): void {
  const { runs } = state;
  assert(runs.phase[run] === OPEN, 'an open run closes');
  // Cancelled first, while the run still counts as open: its ready tasks leave their lanes.
  const cancelled = runs.unfinished[run]! > 0 ? cancelUnbegun(state, run) : [];
  state.past.remove(run);
  state.requires.remove(run);
  runs.phase[run] = CLOSING;
  runs.outcome[run] = 1 + RUN_OUTCOMES.indexOf(change.outcome);
  if (change.graceMs !== undefined) runs.graces.set(run, change.graceMs);
  if (!runs.has(run, ADMITTED)) enqueueReady(state, run);
  beginClosing(state, run, cancelled);
  state.agenda.runs.add(run);
  if (runs.has(run, ADMITTED)) return;
  const { dag } = runs.versionOf(run);
  forgetGoneWaiters(state, dag);
  // Its entry would count as a run that waits, and hold back backfills.
  if (dag.waitingRuns.size > 0) state.agenda.dags.add(dag);
}

/** Somebody does not want to wait for what closes the run. */
function forceRun(state: State, run: RunRow): void {
  const { runs } = state;
  assert(runs.phase[run] === CLOSING && !runs.has(run, FORCED), 'a closing run is forced to its end once');
  runs.flags[run]! |= FORCED;
  cancelUnbegun(state, run);
  // Also what had nothing to do: whether that was known before the force or would have been after it, no row tells.
  settleClosingTasks(state, run);
  state.agenda.runs.add(run);
}

/** Runs cancelled while they waited to be admitted leave their entries behind: not more than there are live runs (I73). */
function forgetGoneWaiters({ runs }: State, dag: Dag): void {
  if (dag.waitingRuns.size <= 2 * dag.liveRuns + 64) return;
  dag.waitingRuns.keep((runId) => {
    const run = runs.find(runId);
    return run >= 0 && runs.phase[run] === OPEN;
  });
}

function endRun(state: State, run: RunRow): void {
  const { runs } = state;
  assert(runs.phase[run] === CLOSING, 'a closing run ends');
  const left = runs.unfinished[run]! + runs.closingLeft[run]!;
  assert(runs.running[run] === 0 && left === 0, 'a run ends with no token and no task left (I33)');
  runs.phase[run] = ENDED;
  leaveDag(state, run);
  state.lingering.push({ run, batchNo: state.batchNo });
}

function reopenRun(state: State, run: RunRow, change: RunReopened): void {
  const { runs } = state;
  const version = runs.versionOf(run);
  const { dag } = version;
  assert(runs.phase[run] === ENDED && !runs.has(run, SET_ASIDE), 'a run that has ended is opened again');
  if (change.asClosing === true) runs.phase[run] = CLOSING;
  else {
    assert(runs.outcome[run] !== CANCELLED_OUTCOME, 'a cancelled run stays cancelled (I42)');
    runs.phase[run] = OPEN;
    runs.outcome[run] = 0;
  }
  if (change.asClosing !== true) {
    runs.notes.delete(run);
    if (change.notes !== undefined) runs.notes.set(run, readRunNotes(change.notes));
  }
  // What became of the window before while the run was over, nobody has noted.
  if (version.pastTasks.length > 0 && runs.phase[run] === OPEN) holdForPast(state, run, undefined, state.batchNo);
  runs.flags[run]! &= ~(ADMITTED | FORCED);
  runs.timings.delete(run);
  if (change.retryNo > 0) {
    assert(change.retryNo === runs.retries[run]! + 1, 'the retries of a run are counted one by one');
    runs.retries[run] = change.retryNo;
  }
  version.origin.liveRuns += 1;
  dag.liveRuns += 1;
  dag.liveTasks += runs.size[run]!;
  if (runs.parents.has(run)) dag.liveChildren += 1;
  if (runs.has(run, BACKFILL)) countLive(state, run, 1);
  dag.touchedIn = state.batchNo;
  // Nobody may have needed it since the run ended.
  if (!dag.versions.has(version.no)) dag.versions.set(version.no, version.origin);
  if (change.admitted) {
    runs.flags[run]! |= ADMITTED;
    dag.activeRuns += 1;
    if (runs.phase[run] === OPEN) watchRun(state, run, change.at);
  } else if (runs.phase[run] === OPEN) {
    dag.waitingRuns.push(change.runId);
    state.agenda.dags.add(dag);
  }
  state.lingering = state.lingering.filter((left) => left.run !== run);
  if (runs.phase[run] === OPEN) reviveCancelled(state, run, change.admitted);
  else reviveClosers(state, run);
  // It may have nothing to do but close: what was cleared is a hook, say.
  state.agenda.runs.add(run);
  settleClosingTasks(state, run);
  // A hook that has run before is cleared for this one.
  if ((version.graph.closing?.repeating.length ?? 0) > 0) state.agenda.runs.add(run);
  if (version.graph.maps !== null) watchMaps(state, run);
}

/** Closed by a failure with tasks left, which were cancelled: those that had not begun wait as before. */
function reviveCancelled(state: State, run: RunRow, isAdmitted: boolean): void {
  const { tasks } = state;
  const waiting: number[] = [];
  forEachSlot(state, run, (slot) => {
    if (tasks.state[slot] !== CANCELLED) return;
    if (!hasOwnState(state, slot)) waiting.push(taskNoOf(state, slot));
    else if (tasks.endedFence[slot] !== tasks.fence[slot]) {
      moveTask(state, slot, READY);
      if (isAdmitted) watchTotal(state, slot);
    }
  });
  if (waiting.length > 0) settleAnew(state, run, waiting);
}

/**
 * The run closes again, and nobody forces it to its end any more. Its rows never said that these tasks were cancelled: a claim that
 * came back waits for the next one, a retry for the rest of its backoff.
 */
function reviveClosers(state: State, run: RunRow): void {
  const { tasks } = state;
  forEachSlot(state, run, (slot) => {
    if (tasks.state[slot] !== CANCELLED || !isClosingTask(state, slot) || !hasOwnState(state, slot)) return;
    if (tasks.endedFence[slot] !== tasks.fence[slot]) return moveTask(state, slot, READY);
    if (tasks.retryAt[slot] === 0) return;
    moveTask(state, slot, RETRYING);
    watchBackoffAgain(state, slot);
  });
}

const CANCELLED_OUTCOME = 1 + RUN_OUTCOMES.indexOf('cancelled');

function strikeRun(state: State, run: RunRow, change: RunStruck): void {
  const { runs, tasks } = state;
  runs.strikes[run] = change.strikes;
  if (!change.setAside || runs.has(run, SET_ASIDE)) return;
  forEachSlot(state, run, (slot) => {
    for (const attempt of attemptsOfTask(state, slot)) removeAttempt(state, attempt);
    if (tasks.state[slot] === READY && runs.phase[run] !== ENDED) leaveLane(state, slot);
  });
  runs.flags[run]! |= SET_ASIDE;
  state.aside.add(change.runId);
  runs.phase[run] = ENDED;
  leaveDag(state, run);
  state.lingering.push({ run, batchNo: state.batchNo });
}

function leaveDag(state: State, run: RunRow): void {
  const version = state.runs.versionOf(run);
  const { dag } = version;
  version.origin.liveRuns -= 1;
  dag.liveRuns -= 1;
  dag.liveTasks -= state.runs.size[run]!;
  if (state.runs.parents.has(run)) dag.liveChildren -= 1;
  if (state.runs.has(run, BACKFILL)) countLive(state, run, -1);
  dag.touchedIn = state.batchNo;
  if (state.runs.has(run, ADMITTED)) {
    dag.activeRuns -= 1;
    if (dag.waitingRuns.size > 0) state.agenda.dags.add(dag);
  }
}
