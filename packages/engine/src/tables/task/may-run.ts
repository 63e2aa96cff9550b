/** Which tasks may begin an attempt, by the phase of their run. */
import type { TaskSlot } from '../../model/ids.ts';
import { FORCED, OPEN } from '../run/run-table.ts';
import type { State } from '../state.ts';
import { specNoOf } from './task-slots.ts';

/** A teardown, an undo or a hook: it may run while the run is closing, and does not decide it (I33). */
export function isClosingTask(state: State, slot: TaskSlot): boolean {
  const { closing } = state.runs.versionOf(state.tasks.run[slot]!).graph;
  return closing?.has(specNoOf(state, slot)) === true;
}

/** Whether attempts of the task may begin: of any task while its run is open, then of those that close it. */
export function mayRun(state: State, slot: TaskSlot): boolean {
  const run = state.tasks.run[slot]!;
  if (state.runs.phase[run] === OPEN) return true;
  return isClosingTask(state, slot) && !state.runs.has(run, FORCED);
}
