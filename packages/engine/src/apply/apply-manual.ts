/** Applies marks, pauses and priorities that people set (I32). Clearing is in `apply-task.ts`, with its consequences. */

import { assert } from '../model/assert.ts';
import type { PauseSet, PrioritySet, TaskMarked } from '../model/change.ts';
import { PRIORITIES } from '../model/dag/spec.ts';
import type { RunRow, TaskSlot } from '../model/ids.ts';
import { FAILED, READY, RUNNING, SKIPPED, STOPPED, SUCCEEDED } from '../model/task/task-states.ts';
import { markTask } from '../propagate/move.ts';
import { enqueue, enterLane, leaveLane } from '../tables/queue/enqueue.ts';
import { isPaused } from '../tables/run/paused.ts';
import { Pauses } from '../tables/run/pauses.ts';
import { ADMITTED, CLAIMED, OPEN, PAUSED } from '../tables/run/run-table.ts';
import { lastFence } from '../tables/speculative/notes.ts';
import { countWanted, wantedOfRun } from '../tables/speculative/wanted.ts';
import type { State } from '../tables/state.ts';
import { forgetExpiry } from '../tables/task/task-notes.ts';
import { forEachSlot, slotOf } from '../tables/task/task-slots.ts';
import { watchRunAnew } from '../tables/timer/run-timers.ts';
import { watchPause } from '../tables/timer/watch-pause.ts';
import { noteDeadLetterUsed } from './apply-dead-letter.ts';
import { voidStopped } from './apply-task.ts';

export function applyManual(state: State, change: TaskMarked | PauseSet | PrioritySet): void {
  const run = state.runs.find(change.runId);
  assert(run >= 0, `${change.kind} is about a run in memory`);
  if (change.kind === 'PauseSet') return setPause(state, run, change);
  if (change.kind === 'PrioritySet') return setPriority(state, run, change);
  const slot = slotOf(state, run, change.taskNo);
  assert(slot >= 0, 'a task of the run is marked');
  mark(state, run, slot, change);
}

const CODE_OF = { succeeded: SUCCEEDED, failed: FAILED, skipped: SKIPPED, cancelled: STOPPED } as const;

function mark(state: State, run: RunRow, slot: TaskSlot, change: TaskMarked): void {
  const { tasks, runs } = state;
  assert(runs.phase[run] === OPEN, 'a task is marked in an open run');
  assert(tasks.state[slot] !== RUNNING, 'a task that is marked has no attempt that runs');
  assert(change.fence === lastFence(state, slot) + 1, 'fences of a task rise one by one (I20)');
  assert(change.attemptNo === tasks.attemptNo[slot], 'a mark is no attempt (I23)');
  tasks.fence[slot] = change.fence;
  tasks.cleared[slot] = 0;
  tasks.retryAt[slot] = 0;
  voidStopped(state, slot);
  forgetExpiry(state, slot);
  runs.facts.get(run)?.forgetError(change.taskNo);
  runs.flags[run]! |= CLAIMED;
  if (change.state !== 'failed') noteDeadLetterUsed(state, change);
  markTask(state, slot, CODE_OF[change.state], change.facts);
}

/** Ready tasks leave their lanes while they still count as being in them, and come back once they may. */
function setPause(state: State, run: RunRow, change: PauseSet): void {
  const { runs, tasks } = state;
  const { taskNo, paused, until } = change;
  const known = runs.pauses.get(run) ?? new Pauses();
  const pause = paused ? { by: change.actor, at: change.at, until } : null;
  const isOf = (slot: TaskSlot) => tasks.state[slot] === READY && (taskNo === null || tasks.no[slot] === taskNo);
  if (paused) {
    forEachSlot(state, run, (slot) => {
      if (isOf(slot) && !isPaused(state, slot)) leaveLane(state, slot);
    });
  }
  const before = known.get(taskNo);
  const wasPaused = before !== null;
  known.set(taskNo, pause);
  if (known.isEmpty) {
    runs.pauses.delete(run);
    runs.flags[run]! &= ~PAUSED;
  } else {
    runs.pauses.set(run, known);
    runs.flags[run]! |= PAUSED;
  }
  if (taskNo === null) watchPause(state, run);
  if (paused || !wasPaused) return;
  // The delay of its retry policy is over: its times begin now.
  if (taskNo === null && before.until !== null && runs.has(run, ADMITTED) && runs.phase[run] === OPEN) {
    watchRunAnew(state, run, change.at);
  }
  forEachSlot(state, run, (slot) => {
    if (isOf(slot)) enqueue(state, slot);
  });
}

/** Tasks that wait leave the lanes of the old priority and enter those of the new one. Their time in the queue goes on. */
function setPriority(state: State, run: RunRow, { priority }: PrioritySet): void {
  const { runs, tasks } = state;
  const forEachReady = (act: (state: State, slot: TaskSlot) => void) =>
    forEachSlot(state, run, (slot) => {
      if (tasks.state[slot] === READY) act(state, slot);
    });
  const slow = wantedOfRun(state, run);
  forEachReady(leaveLane);
  for (const attempt of slow) countWanted(state, attempt, -1);
  runs.priority[run] = PRIORITIES.indexOf(priority);
  for (const attempt of slow) countWanted(state, attempt, 1);
  forEachReady(enterLane);
}
