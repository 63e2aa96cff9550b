import { assert } from '../model/assert.ts';
import type { DeadLetterClosed, DeadLetterWritten } from '../model/change.ts';
import { type DeadLetterRef, deadLetterName } from '../model/dead-letter.ts';
import { IS_GIVEN_UP } from '../model/task/task-states.ts';
import type { State } from '../tables/state.ts';
import { slotOf } from '../tables/task/task-slots.ts';

/** Dead letters are in the database alone: memory knows those that were closed in batches in flight. */
export function applyDeadLetter(state: State, change: DeadLetterWritten | DeadLetterClosed): void {
  if (change.kind === 'DeadLetterClosed') return noteDeadLetterUsed(state, change);
  const run = state.runs.find(change.runId);
  assert(run >= 0, 'a letter is of a run in memory');
  assert(
    IS_GIVEN_UP[state.tasks.state[slotOf(state, run, change.taskNo)]!] === 1,
    'a letter is of a task that failed for good (I43)',
  );
}

/** The database shows it as open until this batch is settled. */
export function noteDeadLetterUsed(state: State, deadLetter: DeadLetterRef): void {
  state.recentDeadLetters.set(deadLetterName(deadLetter), state.batchNo);
}
