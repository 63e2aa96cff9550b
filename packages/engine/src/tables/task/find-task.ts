import type { ClaimRef } from '../../model/command.ts';
import type { TaskSlot } from '../../model/ids.ts';
import type { State } from '../state.ts';
import { slotOf } from './task-slots.ts';
import { NO_TASK } from './task-table.ts';

/** The slot of a task in memory, or null. */
export function findTask(state: State, { runId, taskNo }: Pick<ClaimRef, 'runId' | 'taskNo'>): TaskSlot | null {
  const run = state.runs.find(runId);
  const slot = run < 0 ? NO_TASK : slotOf(state, run, taskNo);
  return slot === NO_TASK ? null : slot;
}
