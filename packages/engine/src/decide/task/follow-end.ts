/** What the end of an attempt means beyond its task: fingerprint, poison, dead letter, breakers. */

import type { AttemptEnded } from '../../model/change.ts';
import { type DeadLetterReason, type QuickFailures } from '../../model/dead-letter.ts';
import type { AttemptSlot, TaskSlot } from '../../model/ids.ts';
import { causeLine, scopeOf, shownCause } from '../../model/task/cause-of-failure.ts';
import { type Failure, type Fingerprint, fingerprintOf } from '../../model/task/fingerprint.ts';
import { taskSpecOf } from '../../tables/task/task-slots.ts';
import { isCauseShared, isWatched, judgeEnd } from '../breaker/judge.ts';
import { writeDeadLetter } from '../dead-letter/dead-letter.ts';
import { countQuick, isPoison } from '../dead-letter/poison.ts';
import { countFailure } from '../quota/ask-quota.ts';
import type { Recorder } from '../recorder.ts';

interface ClassifiedFailure {
  readonly fingerprint: Fingerprint | null;
  readonly quick: QuickFailures | null;
  readonly isPoison: boolean;
  /** Of its failure before this one; 0 for none. */
  readonly earlier: number;
}

/** Before the end is recorded: what kind of failure it is. */
export function classifyFailure(recorder: Recorder, attempt: AttemptSlot, failure: Failure): ClassifiedFailure {
  const { state } = recorder;
  const slot = state.attempts.task[attempt]!;
  const earlier = state.tasks.fingerprint[slot]!;
  if (failure.outcome === 'succeeded' || failure.outcome === 'cancelled')
    return earlier === 0 ? NO_FAILURE : { ...NO_FAILURE, earlier };
  const fingerprint = fingerprintIn(recorder, slot, failure);
  const quick = countQuick(state, attempt, failure.outcome, () => isCauseShared(recorder, slot, fingerprint));
  const { poison } = taskSpecOf(state, slot);
  return { fingerprint, quick, isPoison: isPoison(poison, quick), earlier };
}

function fingerprintIn({ state }: Recorder, slot: TaskSlot, failure: Failure): Fingerprint {
  return fingerprintOf({ ...failure, error: causeLine(failure) }, scopeOf(taskSpecOf(state, slot), failure));
}

const NO_FAILURE: ClassifiedFailure = { fingerprint: null, quick: null, isPoison: false, earlier: 0 };

/** After it is recorded. */
export function followEnd(
  recorder: Recorder,
  slot: TaskSlot,
  end: AttemptEnded,
  classified: ClassifiedFailure,
  code: string | null,
): void {
  const { outcome, error, fingerprint } = end;
  if (end.taskState === 'failed') {
    // A worker that stops an attempt of an open run by itself (it was frozen past its lease) may have stopped the last one.
    const cause = fingerprint ?? fingerprintIn(recorder, slot, { outcome, code, error });
    countFailure(recorder, recorder.state.runs.versionOf(recorder.state.tasks.run[slot]!).dag);
    writeDeadLetter(recorder, slot, { reason: reasonOf(end, classified), outcome, code, error, fingerprint: cause });
  }
  // By far the most common case: nothing failed, and no breaker looks on.
  if (outcome === 'succeeded' && classified.earlier === 0 && !isWatched(recorder, slot)) return;
  const willRetry = end.taskState === 'retrying';
  judgeEnd(recorder, slot, {
    outcome,
    fingerprint,
    error: shownCause({ code, error }),
    willRetry,
    earlier: classified.earlier,
    claimedAt: end.claimedAt,
  });
}

function reasonOf({ outcome }: AttemptEnded, classified: ClassifiedFailure): DeadLetterReason {
  if (classified.isPoison) return 'poison';
  return outcome === 'permanent' || outcome === 'lost' ? outcome : 'retries';
}
