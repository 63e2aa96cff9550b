import { taskSpecOf } from '../run/task-slots.ts';
import type { State } from '../state.ts';

/** Whether a task runs another dag. Costs a look at the graph where none of a dag's tasks does. */
export function isCall(state: State, slot: number): boolean {
  const { graph } = state.runs.versionOf(state.tasks.run[slot]!);
  return graph.isCall !== null && taskSpecOf(state, slot).child !== undefined;
}
