/** The claim of an attempt. */
import type { ClaimRef } from '../../model/command.ts';
import type { AttemptNo, AttemptSlot, Fence, RunRow, WorkerId } from '../../model/ids.ts';
import { NOBODY } from '../../model/ids.ts';
import type { State } from '../state.ts';
import { taskNoOf } from '../task/task-slots.ts';
import { NO_WORKER } from './attempt-table.ts';

/** What an attempt of the run is given to stop. */
export function graceOf({ runs, settings }: State, run: RunRow): number {
  return runs.graces.size === 0 ? settings.graceMs : (runs.graces.get(run) ?? settings.graceMs);
}

export function claimOf(state: State, attempt: AttemptSlot): ClaimRef {
  const { attempts } = state;
  const slot = attempts.task[attempt]!;
  return {
    runId: state.runIdOfTask(slot),
    taskNo: taskNoOf(state, slot),
    attemptNo: attempts.attemptNo[attempt] as AttemptNo,
    fence: attempts.fence[attempt] as Fence,
  };
}

export function workerIdOf({ attempts, workers }: State, attempt: AttemptSlot): WorkerId {
  const no = attempts.worker[attempt]!;
  return no === NO_WORKER ? NOBODY : workers.at(no)!.id;
}
