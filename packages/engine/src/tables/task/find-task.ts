import type { ClaimRef } from '../../model/command.ts';
import type { State } from '../state.ts';
import { slotOf } from './task-slots.ts';

/** The slot of a task in memory, or null. */
export function findTask(state: State, { runId, taskNo }: Pick<ClaimRef, 'runId' | 'taskNo'>): number | null {
  const run = state.runs.find(runId);
  const slot = run < 0 ? -1 : slotOf(state, run, taskNo);
  return slot < 0 ? null : slot;
}
