import { type Answer, DONE, refuse } from '../../model/answer.ts';
import type { ResetBreaker } from '../../model/command.ts';
import type { Recorder } from '../recorder.ts';
import { letGo } from './set-breaker.ts';

/** Somebody knows better: what is held is let go, more each second. Opens again if they were wrong. */
export function resetBreaker(recorder: Recorder, { tenantId, dagId, fingerprint, actor }: ResetBreaker): Answer {
  const breaker = recorder.state.breakers.get(dagId, fingerprint ?? 0);
  if (breaker === undefined || breaker.tenantId !== tenantId) return refuse('BREAKER_NOT_FOUND');
  if (breaker.state === 'open') letGo(recorder, breaker, actor);
  return DONE;
}
