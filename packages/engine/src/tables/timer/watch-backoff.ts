import type { TaskSlot } from '../../model/ids.ts';
import type { State } from '../state.ts';
import { isClosingTask } from '../task/may-run.ts';
import { taskNoOf } from '../task/task-slots.ts';
import { setTaskTimer } from './set-task-timer.ts';

/** The task is tried again after this long. */
export function watchBackoff(state: State, slot: TaskSlot, delayMs: number): void {
  const { tasks } = state;
  // A run that is forced to its end may close again, after the timer was of no use.
  if (isClosingTask(state, slot)) tasks.backoffDueAt.set(slot, state.mono + delayMs);
  const task = { runId: state.runIdOfTask(slot), taskNo: taskNoOf(state, slot), fence: tasks.fence[slot]! };
  setTaskTimer(state, 'retry', delayMs, task);
}

/** The run closes again: what is left of the backoff. */
export function watchBackoffAgain(state: State, slot: TaskSlot): void {
  watchBackoff(state, slot, Math.max(0, (state.tasks.backoffDueAt.get(slot) ?? 0) - state.mono));
}
