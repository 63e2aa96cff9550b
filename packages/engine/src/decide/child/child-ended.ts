import { type Answer, RECORDED, refuse } from '../../model/answer.ts';
import type { CallEnd, ChildEnded } from '../../model/command.ts';
import type { AttemptOutcome } from '../../model/task/outcome.ts';
import { WAITING } from '../../model/task/task-states.ts';
import { findAttempt } from '../../tables/attempt/find-attempt.ts';
import type { Recorder } from '../recorder.ts';
import { endAttempt } from '../task/end-attempt.ts';
import { isStopping, stopCall } from './stop-call.ts';

/** A child that failed may do better the next time, where the task has retries; what a person or a definition said stays so. */
const CLASS_OF = {
  succeeded: 'succeeded',
  accepted: 'succeeded',
  failed: 'transient',
  full: 'transient',
  cancelled: 'permanent',
  set_aside: 'permanent',
  refused: 'permanent',
  unbegun: 'cancelled',
} as const satisfies Record<CallEnd, AttemptOutcome>;

/** The first word of the end of a call counts; all others find that nobody waits any more (I51). */
export function childEnded(recorder: Recorder, { claim, end, output, error }: ChildEnded): Answer {
  const { state } = recorder;
  const attempt = findAttempt(state, claim);
  if (attempt === null || state.tasks.state[state.attempts.task[attempt]!] !== WAITING) {
    return refuse('STALE_TOKEN', `${claim.runId}/${claim.taskNo}`);
  }
  if (end === 'refused' || end === 'full') {
    // The same call may be under way once more, and find a dag that has been revived or has room again: it must find that it is over.
    const as = { outcome: CLASS_OF[end], error, code: `child:${end}` };
    if (!isStopping(state, attempt)) stopCall(recorder, attempt, as);
    return RECORDED;
  }
  // It was stopped, and that is why it ended so; but one that was quicker than the stop has its result.
  const stop = state.attempts.stopping.get(attempt);
  const isFailure = CLASS_OF[end] !== 'succeeded';
  // A failure of its own, when all its time was over, gives it no other attempt (I41).
  const isStopped = end === 'cancelled' || end === 'unbegun' || (isFailure && stop?.isLast === true);
  const stopped = isStopped ? stop : undefined;
  const code = isFailure ? `child:${end}` : null;
  endAttempt(recorder, attempt, { outcome: CLASS_OF[end], output, error, code, ...stopped, isChildOver: true });
  return RECORDED;
}
