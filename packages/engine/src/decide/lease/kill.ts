import type { ClaimRef } from '../../model/command.ts';
import { WAITING } from '../../model/task/task-states.ts';
import { claimOf, graceOf } from '../../tables/task/claim-of.ts';
import { sendCall } from '../child/send-call.ts';
import type { KillAttempt } from '../effect.ts';
import type { Recorder } from '../recorder.ts';

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
