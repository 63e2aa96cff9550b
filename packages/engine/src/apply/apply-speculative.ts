/** Turns the changes of speculative attempts into state, live and in replay (I19). */

import { assert } from '../model/assert.ts';
import type {
  SpeculativeClaimed,
  SpeculativeEnded,
  SpeculativeReturned,
  SpeculativeTookOver,
} from '../model/change.ts';
import type { TaskSlot } from '../model/ids.ts';
import { ATTEMPT_OUTCOMES } from '../model/task/outcome.ts';
import { RUNNING } from '../model/task/task-states.ts';
import { NO_ATTEMPT } from '../tables/attempt/attempt-table.ts';
import { removeAttempt } from '../tables/attempt/attempts.ts';
import { attemptWith, besideOf, isLeading, leadingOf } from '../tables/attempt/find-attempt.ts';
import { watchPace } from '../tables/speculative/watch-pace.ts';
import type { State } from '../tables/state.ts';
import { keepNotes } from '../tables/task/task-notes.ts';
import { slotOf } from '../tables/task/task-slots.ts';
import { assertNext, beginAttempt, loadAttempt } from './begin-attempt.ts';

export type SpeculativeChange = SpeculativeClaimed | SpeculativeReturned | SpeculativeEnded | SpeculativeTookOver;

export function applySpeculative(state: State, change: SpeculativeChange): void {
  const run = state.runs.find(change.runId);
  assert(run >= 0, `${change.kind} is about a run in memory`);
  const slot = slotOf(state, run, change.taskNo);
  assert(slot >= 0 && state.tasks.state[slot] === RUNNING, `${change.kind} is about a task that runs`);
  if (change.kind === 'SpeculativeClaimed') return claim(state, slot, change);
  const attempt = attemptWith(state, slot, change.fence);
  assert(attempt !== NO_ATTEMPT, `${change.kind} has the fence of the claim (I21)`);
  assert(besideOf(state, attempt) !== NO_ATTEMPT, `${change.kind} is about a task that runs twice`);
  assert(
    isLeading(state, attempt) === (change.kind === 'SpeculativeTookOver'),
    'the speculative attempt takes over when the leading one ends',
  );
  removeAttempt(state, attempt);
  keepNotes(state, slot, change.notes);
  if (change.kind === 'SpeculativeTookOver') takeOver(state, slot, change);
  if (change.kind !== 'SpeculativeEnded') watchPace(state, leadingOf(state, slot));
}

function claim(state: State, slot: TaskSlot, change: SpeculativeClaimed): void {
  assert(besideOf(state, leadingOf(state, slot)) === NO_ATTEMPT, 'no more than two attempts of a task run (I23)');
  assertNext(state, slot, change);
  keepNotes(state, slot, change.notes);
  beginAttempt(state, slot, change);
}

/** The row of the task shows the attempt that is left. */
function takeOver(state: State, slot: TaskSlot, change: SpeculativeTookOver): void {
  const { tasks, attempts } = state;
  const leading = leadingOf(state, slot);
  assert(attempts.fence[leading] === change.next.fence, 'the attempt that takes over is the one that runs (I21)');
  tasks.endedFence[slot] = change.fence;
  tasks.lastOutcome[slot] = 1 + ATTEMPT_OUTCOMES.indexOf(change.outcome);
  tasks.fence[slot] = attempts.fence[leading]!;
  tasks.attemptNo[slot] = attempts.attemptNo[leading]!;
}

/** The speculative attempt that the notes of a running task tell of, if it runs. */
export function loadSpeculative(state: State, slot: TaskSlot): void {
  const speculative = state.tasks.notes.get(slot)?.speculativeAttempt;
  if (speculative === undefined || speculative.over !== undefined) return;
  loadAttempt(state, slot, { ...speculative, deadlineAt: speculative.deadlineAt });
}
