import { assert } from '../assert.ts';
import type { LetterClosed, LetterWritten } from '../change.ts';
import { type LetterRef, letterName } from '../letter/letter.ts';
import { slotOf } from '../run/task-slots.ts';
import type { State } from '../state.ts';
import { FAILED } from '../task/task-table.ts';

/** Letters are in the database alone: memory knows those that were closed in batches in flight. */
export function applyLetter(state: State, change: LetterWritten | LetterClosed): void {
  if (change.kind === 'LetterClosed') return noteLetterUsed(state, change);
  const run = state.runs.find(change.runId);
  assert(run >= 0, 'a letter is of a run in memory');
  assert(
    state.tasks.state[slotOf(state, run, change.taskNo)] === FAILED,
    'a letter is of a task that failed for good (I43)',
  );
}

/** The database shows it as open until this batch is settled. */
export function noteLetterUsed(state: State, letter: LetterRef): void {
  state.recentLetters.set(letterName(letter), state.batchNo);
}
