/**
 * Stops the running attempts of a task for a manual action: their tokens are void from this commit on, and their workers are
 * told.
 */
import type { Actor, Instant, TaskSlot } from '../../model/ids.ts';
import { NO_ATTEMPT } from '../../tables/attempt/attempt-table.ts';
import { claimOf, workerIdOf } from '../../tables/attempt/claim-of.ts';
import { besideOf, leadingOf } from '../../tables/attempt/find-attempt.ts';
import { killAttempt } from '../lease/kill.ts';
import type { Recorder } from '../recorder.ts';
import { endBeside } from '../speculative/end-beside.ts';

/** All attempts of the task in this slot, which runs. */
export function stopAttempts(recorder: Recorder, slot: TaskSlot, actor: Actor): void {
  const { state } = recorder;
  const error = `Stopped by ${actor}.`;
  const attempt = leadingOf(state, slot);
  const speculative = besideOf(state, attempt);
  if (speculative !== NO_ATTEMPT) endBeside(recorder, speculative, { outcome: 'cancelled', error }, 'cancelled');
  killAttempt(recorder, attempt, 'cancelled');
  recorder.record({
    kind: 'AttemptEnded',
    ...claimOf(state, attempt),
    workerId: workerIdOf(state, attempt),
    outcome: 'cancelled',
    // What it is from here on follows at once, by a change of its own.
    taskState: 'cancelled',
    claimedAt: state.attempts.claimedAt[attempt] as Instant,
    startedAt: null,
    endedAt: state.now,
    retryAt: null,
    lostCount: state.tasks.lostCount[slot]!,
    output: null,
    facts: null,
    error,
    code: null,
    fingerprint: null,
    quick: null,
  });
}
