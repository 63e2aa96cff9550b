/** One of two attempts ends, or both do. What counts is recorded as for any task; all else is done here. */
import type { SecondEnded } from '../../model/change.ts';
import type { AttemptNo, Fence, Instant } from '../../model/ids.ts';
import { notesWith } from '../../model/task/notes.ts';
import type { AttemptOutcome } from '../../model/task/outcome.ts';
import { ownerOf, shadowOf } from '../../tables/speculative/seconds.ts';
import type { State } from '../../tables/state.ts';
import { notesOf } from '../../tables/task/task-notes.ts';
import { taskNoOf } from '../../tables/task/task-slots.ts';
import type { KillAttempt } from '../effect.ts';
import { killAttempt } from '../lease/kill.ts';
import type { Recorder } from '../recorder.ts';

export interface EndOfOne {
  readonly outcome: AttemptOutcome;
  readonly error: string | null;
  readonly code?: string | null;
  readonly startedAt?: Instant | null;
  /** Nothing of the task goes on. */
  readonly isLast?: boolean;
}

export const SUPERSEDED = {
  outcome: 'cancelled',
  code: 'superseded',
  error: 'Another attempt of the task was faster.',
} as const;

/**
 * An attempt of a task that has two has ended. The slot of the one that decides what becomes of the task, whose end is still to be
 * recorded; or null where the other goes on, and this one is recorded.
 */
export function endOneOfTwo(recorder: Recorder, slot: number, end: EndOfOne): number | null {
  const { state } = recorder;
  const owner = ownerOf(state, slot);
  const shadow = shadowOf(state, owner);
  if (shadow < 0) return owner;
  const isSecond = slot === shadow;
  if (end.isLast === true && !isSecond) {
    endSecond(recorder, owner, { ...end, error: end.error }, 'timeout');
    return owner;
  }
  if (end.outcome === 'succeeded') {
    // Both in one commit: from then on whatever the other says is refused (I21, I23).
    if (isSecond) giveWay(recorder, owner, SUPERSEDED, 'superseded');
    else endSecond(recorder, owner, SUPERSEDED, 'superseded');
    return owner;
  }
  if (isSecond) endSecond(recorder, owner, end, null);
  else giveWay(recorder, owner, end, null);
  return null;
}

/** The second ends, and the first goes on or is about to end. With a reason to kill it whatever it still says is void. */
export function endSecond(recorder: Recorder, owner: number, end: EndOfOne, kill: KillAttempt['reason'] | null): void {
  const { state } = recorder;
  const shadow = shadowOf(state, owner);
  if (shadow < 0) return;
  if (kill !== null) killAttempt(recorder, shadow, kill);
  const notes = notesOf(state, owner);
  const second = { ...notes.second!, over: kill === null ? end.outcome : ('void' as const) };
  recorder.record({
    kind: 'SecondEnded',
    ...endOf(state, shadow, end),
    notes: notesWith(notes, { second }),
  });
}

/** It never began: its fence is used up, its number is not (I26). */
export function returnSecond(recorder: Recorder, owner: number, reason: 'refused' | 'undelivered' | 'drained'): void {
  const { state } = recorder;
  const notes = notesOf(state, owner);
  const second = { ...notes.second!, attemptNo: 0 as AttemptNo, over: 'returned' as const };
  recorder.record({
    kind: 'SecondReturned',
    runId: state.runIdOfTask(owner),
    taskNo: taskNoOf(state, owner),
    fence: notes.second!.fence,
    reason,
    notes: notesWith(notes, { second }),
    at: state.now,
  });
}

/** The first ends, and the second is the task's attempt from here on. */
function giveWay(recorder: Recorder, owner: number, end: EndOfOne, kill: KillAttempt['reason'] | null): void {
  const { state } = recorder;
  if (kill !== null) killAttempt(recorder, owner, kill);
  const notes = notesOf(state, owner);
  const { attemptNo, fence, workerId, claimedAt, deadlineAt, slowAt } = notes.second!;
  const { uncounted = 0, doubled = 0 } = notes;
  const counts = { uncounted: uncounted + 1, doubled: doubled + 1 };
  const own = { deadlineAt, slowAt, second: undefined, speculative: attemptNo, ...counts };
  recorder.record({
    kind: 'SecondTookOver',
    ...endOf(state, owner, end),
    ...(notes.speculative === state.tasks.attemptNo[owner] ? { speculative: true } : {}),
    next: { attemptNo, fence, workerId, claimedAt },
    notes: notesWith(notes, own),
  });
}

function endOf(state: State, slot: number, { outcome, error, code = null, startedAt = null }: EndOfOne): EndedOne {
  const { tasks } = state;
  return {
    runId: state.runIdOfTask(slot),
    taskNo: taskNoOf(state, slot),
    attemptNo: tasks.attemptNo[slot] as AttemptNo,
    fence: tasks.fence[slot] as Fence,
    workerId: state.workers.at(tasks.worker[slot]!)!.id,
    outcome,
    claimedAt: tasks.claimedAt[slot] as Instant,
    startedAt,
    endedAt: state.now,
    error,
    code,
  };
}

type EndedOne = Omit<SecondEnded, 'kind' | 'notes'>;
