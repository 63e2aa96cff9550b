/** One of two attempts of a task ends while the other continues, or is about to decide the task. */
import type { SpeculativeEnded } from '../../model/change.ts';
import type { AttemptNo, AttemptSlot, Instant } from '../../model/ids.ts';
import { notesWith } from '../../model/task/notes.ts';
import type { AttemptOutcome } from '../../model/task/outcome.ts';
import { claimOf, workerIdOf } from '../../tables/attempt/claim-of.ts';
import { besideOf, isLeading } from '../../tables/attempt/find-attempt.ts';
import type { State } from '../../tables/state.ts';
import { notesOf } from '../../tables/task/task-notes.ts';
import type { KillAttempt } from '../effect.ts';
import { killAttempt } from '../lease/kill.ts';
import type { Recorder } from '../recorder.ts';

interface EndOfOne {
  readonly outcome: AttemptOutcome;
  readonly error: string | null;
  readonly code?: string | null;
  readonly startedAt?: Instant | null;
  /** Nothing of the task goes on. */
  readonly isLast?: boolean;
}

const SUPERSEDED = {
  outcome: 'cancelled',
  code: 'superseded',
  error: 'Another attempt of the task was faster.',
} as const;

/**
 * An attempt of a task that has two ends. Answers true where it decides what becomes of the task: the other has ended, and the end
 * of this one is still to be recorded. False where the other goes on, and the end of this one is recorded.
 */
export function endOneOfTwo(recorder: Recorder, attempt: AttemptSlot, end: EndOfOne): boolean {
  const other = besideOf(recorder.state, attempt);
  if (end.isLast === true) endBeside(recorder, other, end, 'timeout');
  // Both in one commit: from then on whatever the other says is refused (I21, I23).
  else if (end.outcome === 'succeeded') endBeside(recorder, other, SUPERSEDED, 'superseded');
  else {
    endBeside(recorder, attempt, end, null);
    return false;
  }
  return true;
}

/** The other attempt of the task leads from here on. With a reason to kill it whatever this one still says is void. */
export function endBeside(
  recorder: Recorder,
  attempt: AttemptSlot,
  end: EndOfOne,
  kill: KillAttempt['reason'] | null,
): void {
  const { state } = recorder;
  if (kill !== null) killAttempt(recorder, attempt, kill);
  const notes = notesOf(state, state.attempts.task[attempt]!);
  const speculative = notes.speculativeAttempt!;
  if (!isLeading(state, attempt)) {
    const over = kill === null ? end.outcome : 'void';
    const ended = notesWith(notes, { speculativeAttempt: { ...speculative, over } });
    recorder.record({ kind: 'SpeculativeEnded', ...endOf(state, attempt, end), notes: ended });
    return;
  }
  const { attemptNo, fence, workerId, claimedAt, deadlineAt, slowAt } = speculative;
  const { uncounted = 0, endedBeside = 0 } = notes;
  const counts = { uncounted: uncounted + 1, endedBeside: endedBeside + 1 };
  recorder.record({
    kind: 'SpeculativeTookOver',
    ...endOf(state, attempt, end),
    ...(notes.speculative === state.attempts.attemptNo[attempt] ? { speculative: true } : {}),
    next: { attemptNo, fence, workerId, claimedAt },
    notes: notesWith(notes, { deadlineAt, slowAt, speculativeAttempt: undefined, speculative: attemptNo, ...counts }),
  });
}

/** The speculative attempt never began: its fence is used up, its number is not (I26). */
export function returnSpeculative(
  recorder: Recorder,
  attempt: AttemptSlot,
  reason: 'refused' | 'undelivered' | 'drained',
): void {
  const { state } = recorder;
  const notes = notesOf(state, state.attempts.task[attempt]!);
  const { runId, taskNo, fence } = claimOf(state, attempt);
  const speculativeAttempt = { ...notes.speculativeAttempt!, attemptNo: 0 as AttemptNo, over: 'returned' as const };
  const returned = notesWith(notes, { speculativeAttempt });
  recorder.record({ kind: 'SpeculativeReturned', runId, taskNo, fence, reason, notes: returned, at: state.now });
}

type EndedOne = Omit<SpeculativeEnded, 'kind' | 'notes'>;

function endOf(
  state: State,
  attempt: AttemptSlot,
  { outcome, error, code = null, startedAt = null }: EndOfOne,
): EndedOne {
  return {
    ...claimOf(state, attempt),
    workerId: workerIdOf(state, attempt),
    outcome,
    claimedAt: state.attempts.claimedAt[attempt] as Instant,
    startedAt,
    endedAt: state.now,
    error,
    code,
  };
}
