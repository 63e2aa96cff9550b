/**
 * A test by the compiler: the numbers of one table can't be used for those of another. `tsc` fails when a line below a
 * `@ts-expect-error` compiles. Nothing calls these functions.
 */
import type { AttemptSlot, RunRow, TaskSlot } from '../model/ids.ts';
import { leadingOf } from '../tables/attempt/find-attempt.ts';
import type { State } from '../tables/state.ts';
import { slotOf } from '../tables/task/task-slots.ts';

interface Numbers {
  readonly run: RunRow;
  readonly slot: TaskSlot;
  readonly attempt: AttemptSlot;
}

export function refused(state: State, { run, slot, attempt }: Numbers): void {
  // @ts-expect-error: a column of tasks has no run rows
  state.tasks.state[run] = 1;
  // @ts-expect-error: a column of runs has no task slots
  state.runs.phase[slot] = 1;
  // @ts-expect-error: a column of attempts has no task slots
  state.attempts.fence[slot] = 1;
  // @ts-expect-error: a plain number is not a task slot
  state.tasks.state[0] = 1;
  // @ts-expect-error: the run of a task is a run row
  state.tasks.run[slot] = attempt;
  // @ts-expect-error: a task has a leading attempt, an attempt has none
  leadingOf(state, attempt);
  // @ts-expect-error: a task is found by the row of its run
  slotOf(state, slot, 0);
  // @ts-expect-error: notes are kept by task slot
  state.tasks.notes.get(run);
}

export function accepted(state: State, { run, slot, attempt }: Numbers): void {
  state.tasks.state[slot] = 1;
  state.runs.phase[state.tasks.run[slot]!] = 1;
  state.attempts.task[attempt] = slotOf(state, run, 0);
}
