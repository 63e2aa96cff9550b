/** Restores a live run from its rows. Tasks without a row are derived (D4). */

import { assert } from '../model/assert.ts';
import { PRIORITIES } from '../model/dag/spec.ts';
import type { RunRow, TaskSlot } from '../model/ids.ts';
import { RUN_OUTCOMES, RUN_PHASES } from '../model/run/phase.ts';
import { readRunNotes } from '../model/run/run-notes.ts';
import { isStoppedAndCleared, type StoredRun, type StoredTask } from '../model/stored.ts';
import { ATTEMPT_OUTCOMES } from '../model/task/outcome.ts';
import { BLOCKED, IS_TERMINAL, READY } from '../model/task/task-states.ts';
import { deriveTasks } from '../propagate/derive.ts';
import { failsRun } from '../propagate/move.ts';
import type { Columns } from '../propagate/run-tasks-view.ts';
import { watchMaps } from '../propagate/watch-maps.ts';
import { copyInto } from '../tables/column.ts';
import type { Version } from '../tables/dag/dag.ts';
import { type RunMaps, takePages } from '../tables/map/run-maps.ts';
import { holdForPast, isHeldByPast } from '../tables/past/past.ts';
import { enqueue } from '../tables/queue/enqueue.ts';
import { waitForRequirements } from '../tables/requires/wait.ts';
import { noteCheckpoint } from '../tables/run/checkpoints.ts';
import { restorePauses } from '../tables/run/paused.ts';
import {
  ADMITTED,
  BACKFILL,
  CLAIMED,
  CLOSING,
  FORCED,
  HAS_PARAMS,
  HAS_SKIPPED,
  OPEN,
} from '../tables/run/run-table.ts';
import { notePace, watchPace } from '../tables/speculative/watch-pace.ts';
import type { State } from '../tables/state.ts';
import { isClosingTask } from '../tables/task/may-run.ts';
import { forgetExpiry, forgetQueued, keepNotes, notesOf } from '../tables/task/task-notes.ts';
import { forEachSlot, slotOf, taskSpecOf } from '../tables/task/task-slots.ts';
import { watchLoadedRun } from '../tables/timer/run-timers.ts';
import { waitLeftMs } from '../tables/timer/stored-wait.ts';
import { watchTotal } from '../tables/timer/task-timers.ts';
import { watchBackoff } from '../tables/timer/watch-backoff.ts';
import { watchPause } from '../tables/timer/watch-pause.ts';
import { releaseForLoaded } from './apply-run-key.ts';
import { loadSpeculative } from './apply-speculative.ts';
import { noteFailure, voidStopped } from './apply-task.ts';
import { loadAttempt } from './begin-attempt.ts';

/** Into the working set. One that has ended comes only to be opened again, and counts nowhere until it is. */
export function restoreRun(state: State, stored: StoredRun, known?: Version): RunRow {
  // Before anything that may throw: whoever stops a load is charged for it (I57).
  state.currentRun = stored.runId;
  const { runs, tasks } = state;
  const dag = state.dags.get(stored.dagId);
  const deployed = known ?? dag?.versions.get(stored.versionNo);
  assert(dag !== undefined && deployed !== undefined, 'a run comes with its dag and its version');
  const version = deployed.upTo(readRunNotes(stored.notes).until).grown(stored.added);
  const run = runs.add(stored.runId, stored.uid, version);
  runs.createdAt[run] = stored.createdAt;
  runs.priority[run] = PRIORITIES.indexOf(stored.priority);
  runs.phase[run] = RUN_PHASES.indexOf(stored.phase);
  runs.outcome[run] = stored.outcome === null ? 0 : 1 + RUN_OUTCOMES.indexOf(stored.outcome);
  runs.strikes[run] = stored.strikes;
  runs.flags[run] =
    (stored.admitted ? ADMITTED : 0) |
    (stored.isForced ? FORCED : 0) |
    (stored.hasParams ? HAS_PARAMS : 0) |
    (stored.tasks.length > 0 ? CLAIMED : 0) |
    (stored.tasks.some((task) => task.state === 'skipped') ? HAS_SKIPPED : 0);
  runs.retries[run] = stored.retries;
  if (stored.notes !== undefined) runs.notes.set(run, readRunNotes(stored.notes));
  if (runs.notes.get(run)?.backfill !== undefined) runs.flags[run] |= BACKFILL;
  if (stored.window !== undefined) runs.windows.set(run, stored.window.at, stored.window.start);
  if (stored.graceMs !== null) runs.graces.set(run, stored.graceMs);
  restorePauses(state, run, stored.pauses);
  watchPause(state, run);
  if (stored.added !== undefined) runs.added.set(run, stored.added);
  const base = tasks.allocate(version.room, run);
  runs.base[run] = base;
  const isLive = stored.phase !== 'ended';
  runs.setSchedule(run, stored.scheduleNo);
  if (stored.parent !== undefined) {
    runs.setParent(run, stored.parent);
    if (isLive) dag.liveChildren += 1;
  }
  if (isLive) {
    version.origin.liveRuns += 1;
    dag.liveRuns += 1;
  }
  if (version.pastTasks.length > 0 && stored.phase === 'open') holdForPast(state, run, runs.notes.get(run)?.past, 0);
  const derived = deriveTasks(version.graph, stored.tasks, stored);
  copyDerived(state, derived.columns, { from: 0, to: base, length: version.taskCount });
  if (derived.maps !== null) adoptMaps(state, run, derived.maps, derived.columns);
  if (derived.facts !== undefined) runs.facts.set(run, derived.facts);
  if (stored.phase === 'open' && stored.admitted) watchLoadedRun(state, run, stored);
  for (const row of stored.tasks) restoreTask(state, run, row);
  countTasks(state, run);
  runs.size[run] = sizeOf(version, derived.maps);
  if (isLive) dag.liveTasks += runs.size[run];
  if (runs.phase[run] === OPEN && !stored.admitted && runs.notes.get(run)?.requires !== undefined) {
    waitForRequirements(state, run);
  } else if (runs.phase[run] === OPEN && !stored.admitted) {
    dag.waitingRuns.push(stored.runId);
    state.agenda.dags.add(dag);
  }
  if (isLive) releaseForLoaded(state, run);
  // A node that died between two steps may have left a run with nothing to do but end.
  const isFailing = version.graph.isFailFast && runs.failed[run]! > 0;
  const mayRefire = (version.graph.closing?.repeating.length ?? 0) > 0;
  const isOver = runs.unfinished[run] === 0 || runs.phase[run] === CLOSING;
  if (isLive && (isOver || isFailing || mayRefire)) state.agenda.runs.add(run);
  if (runs.phase[run] === OPEN && version.graph.maps !== null) watchMaps(state, run);
  state.currentRun = null;
  return run;
}

function sizeOf({ taskCount }: Version, maps: RunMaps | null): number {
  let size = taskCount;
  for (const { unfolded, group } of maps?.expansions ?? []) size += unfolded * group.members.length;
  return size;
}

function copyDerived(
  { tasks }: State,
  derived: Columns,
  { from, to, length }: { readonly from: number; readonly to: TaskSlot; readonly length: number },
): void {
  copyInto(tasks.state, to, derived.state, from, length);
  copyInto(tasks.unmet, to, derived.unmet, from, length);
  copyInto(tasks.upSucceeded, to, derived.upSucceeded, from, length);
  copyInto(tasks.upFailed, to, derived.upFailed, from, length);
  copyInto(tasks.upUpstreamFailed, to, derived.upUpstreamFailed, from, length);
  copyInto(tasks.upSkipped, to, derived.upSkipped, from, length);
}

/** What its maps have made gets slots of the table, page by page. */
function adoptMaps(state: State, run: RunRow, maps: RunMaps, columns: Columns): void {
  state.runs.maps.set(run, maps);
  for (const expansion of maps.expansions) {
    const pages = expansion.pages.splice(0);
    takePages(expansion, expansion.unfolded, (length, firstNo) => {
      const to = state.tasks.allocate(length, run, firstNo);
      copyDerived(state, columns, { from: pages[expansion.pages.length]!, to, length });
      return to;
    });
  }
}

function restoreTask(state: State, run: RunRow, row: StoredTask): void {
  const { tasks, runs } = state;
  const slot = slotOf(state, run, row.taskNo);
  // Of a map that was removed since: history.
  if (slot < 0 && row.taskNo >= runs.versionOf(run).taskCount) return;
  assert(slot >= 0, 'a row is of a task of its run');
  tasks.fence[slot] = row.fence;
  tasks.attemptNo[slot] = row.attemptNo;
  tasks.lostCount[slot] = row.lostCount;
  tasks.budgetBase[slot] = row.budgetBase;
  tasks.cleared[slot] = row.state === 'cleared' ? 1 : 0;
  tasks.retryAt[slot] = row.retryAt ?? 0;
  noteFailure(state, slot, row.fingerprint ?? 0, row.quick);
  tasks.lastOutcome[slot] = row.outcome === null ? 0 : 1 + ATTEMPT_OUTCOMES.indexOf(row.outcome);
  tasks.endedFence[slot] = row.outcome === null ? 0 : row.fence;
  if (isStoppedAndCleared(row)) voidStopped(state, slot);
  if (row.checkpoint !== null) noteCheckpoint(state, run, row.taskNo, row.checkpoint);
  keepNotes(state, slot, row.notes);
  if (row.state !== 'expired') forgetExpiry(state, slot);
  // A task that was added again may have no limit for its queue time, while its row is from one that had.
  const countsQueue = taskSpecOf(state, slot).queueTimeoutMs !== undefined;
  if (!countsQueue || !isOnItsWay(state, run, slot)) forgetQueued(state, slot);
  if (row.state === 'returned') tasks.attemptNo[slot] = row.attemptNo - 1;
  if (IS_TERMINAL[tasks.state[slot]!] === 0) watchTotal(state, slot);
  if (row.state === 'retrying') {
    watchBackoff(state, slot, waitLeftMs(state, { from: row.endedAt ?? 0, until: row.retryAt ?? 0 }));
  }
  if (row.state === 'succeeded' && row.outcome === 'succeeded')
    notePace(state, slot, (row.endedAt ?? 0) - row.claimedAt);
  if (row.state !== 'running') return;
  const attempt = loadAttempt(state, slot, { ...row, deadlineAt: notesOf(state, slot).deadlineAt });
  watchPace(state, attempt);
  loadSpeculative(state, slot);
}

/** Queued, claimed, or held back after it was queued. No task of a run that waits for its turn is queued, nor one that waits for the past. */
function isOnItsWay(state: State, run: RunRow, slot: TaskSlot): boolean {
  const { runs, tasks } = state;
  const code = tasks.state[slot]!;
  const isQueueing = (runs.phase[run] !== OPEN || runs.has(run, ADMITTED)) && !isHeldByPast(state, slot);
  return code !== BLOCKED && IS_TERMINAL[code] === 0 && (code !== READY || isQueueing);
}

function countTasks(state: State, run: RunRow): void {
  const { tasks, runs } = state;
  let [unfinished, closingLeft, failed] = [0, 0, 0];
  forEachSlot(state, run, (slot) => {
    const code = tasks.state[slot]!;
    if (IS_TERMINAL[code] === 0 && isClosingTask(state, slot)) closingLeft += 1;
    else if (IS_TERMINAL[code] === 0) unfinished += 1;
    else if (failsRun(state, run, slot, code)) failed += 1;
    if (code === READY) enqueue(state, slot);
  });
  runs.unfinished[run] = unfinished;
  runs.closingLeft[run] = closingLeft;
  runs.failed[run] = failed;
}
