/** Applies changes about deadlines of tasks and runs. */

import { assert } from '../model/assert.ts';
import type { AttemptExtended, RunSlow, RunTimedOut, TaskExpired, TaskQueued, TaskSlow } from '../model/change.ts';
import type { RunRow, TaskSlot } from '../model/ids.ts';
import { readRunNotes } from '../model/run/run-notes.ts';
import { errorOfExpiry } from '../model/task/facts.ts';
import { FAILED, IS_DUE } from '../model/task/task-states.ts';
import { moveTask, settleDownstream } from '../propagate/move.ts';
import { noteRepeats } from '../propagate/note-repeats.ts';
import { NO_ATTEMPT } from '../tables/attempt/attempt-table.ts';
import { attemptWith } from '../tables/attempt/find-attempt.ts';
import { watchOf } from '../tables/attempt/watch.ts';
import { CLAIMED } from '../tables/run/run-table.ts';
import type { State } from '../tables/state.ts';
import { keepNotes } from '../tables/task/task-notes.ts';
import { slotOf, specNoOf } from '../tables/task/task-slots.ts';
import { watchQueue } from '../tables/timer/task-timers.ts';

type TaskDeadlineChange = TaskQueued | TaskExpired | TaskSlow | AttemptExtended;

export function applyTaskDeadline(state: State, change: TaskDeadlineChange): void {
  const run = state.runs.find(change.runId);
  assert(run >= 0, `${change.kind} is about a run in memory`);
  const slot = slotOf(state, run, change.taskNo);
  assert(slot >= 0, `${change.kind} is about a task of its run`);
  keepNotes(state, slot, change.notes);
  if (change.kind === 'TaskQueued') {
    // Its row is asked for on load, as those of claimed tasks are.
    state.runs.flags[run]! |= CLAIMED;
    return watchQueue(state, slot);
  }
  if (change.kind === 'TaskExpired') return expire(state, run, slot, change);
  const attempt = attemptWith(state, slot, change.fence);
  assert(attempt !== NO_ATTEMPT, `${change.kind} is about a running attempt (I21)`);
  if (change.kind === 'TaskSlow') return noteRepeats(state, run, change.taskNo);
  const { claimedAt, claimedMono } = state.attempts;
  // The timer that is set already will find it.
  watchOf(state, attempt).deadlineAt = claimedMono[attempt]! + (change.deadlineAt - claimedAt[attempt]!);
}

function expire(state: State, run: RunRow, slot: TaskSlot, { taskNo, reason }: TaskExpired): void {
  const { graph } = state.runs.versionOf(run);
  if (graph.tellsError?.[specNoOf(state, slot)] === 1) state.runs.factsOf(run).setError(taskNo, errorOfExpiry(reason));
  const code = state.tasks.state[slot]!;
  assert(IS_DUE[code] === 1, 'a task without a running attempt expires');
  // From here on its row says what it is; one that was loaded before its first claim had a row that said nothing.
  state.tasks.cleared[slot] = 0;
  moveTask(state, slot, FAILED);
  settleDownstream(state, slot);
}

export function applyRunDeadline(state: State, change: RunSlow | RunTimedOut): void {
  const { runs } = state;
  const run = runs.find(change.runId);
  assert(runs.timings.has(run), `${change.kind} is about a run whose time is counted`);
  runs.notes.set(run, readRunNotes(change.notes));
  if (change.kind === 'RunSlow') noteRepeats(state, run, null);
}
