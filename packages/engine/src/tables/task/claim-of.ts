/** What is known of the claim of a task. */
import type { ClaimRef } from '../../model/command.ts';
import type { AttemptNo, Fence, RunId } from '../../model/ids.ts';
import type { State } from '../state.ts';
import { taskNoOf } from './task-slots.ts';

/** What an attempt of the run is given to stop. */
export function graceOf({ runs, settings }: State, run: number): number {
  return runs.graces.size === 0 ? settings.graceMs : (runs.graces.get(run) ?? settings.graceMs);
}

export function claimOf(state: State, slot: number): ClaimRef {
  const run = state.tasks.run[slot]!;
  return {
    runId: state.runs.id[run] as RunId,
    taskNo: taskNoOf(state, slot),
    attemptNo: state.tasks.attemptNo[slot] as AttemptNo,
    fence: state.tasks.fence[slot] as Fence,
  };
}
