import type { ClaimRef } from '../../model/command.ts';
import type { AttemptSlot } from '../../model/ids.ts';
import { claimOf, graceOf } from '../../tables/attempt/claim-of.ts';
import { sendCall } from '../child/send-call.ts';
import type { KillAttempt } from '../effect.ts';
import type { Recorder } from '../recorder.ts';

/** Tells the worker to stop a running attempt, or the run that it waits for. */
export function killAttempt(recorder: Recorder, attempt: AttemptSlot, reason: KillAttempt['reason']): ClaimRef {
  const { state } = recorder;
  const claim = claimOf(state, attempt);
  const worker = state.workers.at(state.attempts.worker[attempt]!);
  if (worker === undefined) {
    sendCall(recorder, attempt, 'stop');
    return claim;
  }
  recorder.send({
    kind: 'KillAttempt',
    gateway: worker.gateway,
    workerId: worker.id,
    claim,
    reason,
    graceMs: graceOf(state, state.tasks.run[state.attempts.task[attempt]!]!),
  });
  return claim;
}
