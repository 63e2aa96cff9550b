import type { RunRow, TaskSlot } from '../../model/ids.ts';
import { WAITING } from '../../model/task/task-states.ts';
import type { State } from '../state.ts';
import { forEachSlot, taskSpecOf } from './task-slots.ts';

/** Whether a task runs another dag. Costs a look at the graph where none of a dag's tasks does. */
export function isCall(state: State, slot: TaskSlot): boolean {
  const { graph } = state.runs.versionOf(state.tasks.run[slot]!);
  return graph.isCall !== null && taskSpecOf(state, slot).child !== undefined;
}

/** Whether a task of the run waits for another run: force goes on to that one. */
export function waitsForChild(state: State, run: RunRow): boolean {
  if (state.runs.versionOf(run).graph.isCall === null) return false;
  let isWaiting = false;
  forEachSlot(state, run, (slot) => {
    if (state.tasks.state[slot] === WAITING) isWaiting = true;
  });
  return isWaiting;
}
