import { sendCall } from '../child/park-calls.ts';
import type { ClaimRef } from '../command.ts';
import type { KillAttempt } from '../effect.ts';
import type { AttemptNo, Fence, RunId } from '../ids.ts';
import type { Recorder } from '../recorder.ts';
import { taskNoOf } from '../run/task-slots.ts';
import type { State } from '../state.ts';
import { WAITING } from '../task/task-table.ts';

/** Tells the worker to stop a running attempt, or the run that it waits for. */
export function killAttempt(recorder: Recorder, slot: number, reason: KillAttempt['reason']): ClaimRef {
  const { state } = recorder;
  if (state.tasks.state[slot] === WAITING) {
    sendCall(recorder, slot, 'stop');
    return claimOf(state, slot);
  }
  const worker = state.workers.at(state.tasks.worker[slot]!)!;
  const claim = claimOf(state, slot);
  recorder.send({
    kind: 'KillAttempt',
    gateway: worker.gateway,
    workerId: worker.id,
    claim,
    reason,
    graceMs: graceOf(state, state.tasks.run[slot]!),
  });
  return claim;
}

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
