/**
 * Speculative attempts, as the notes of their task keep them. I23 allows two running attempts of a task that opted in, while the
 * first takes far longer than its siblings. A dag without such tasks never comes here.
 *
 *   running ── far longer than its siblings, and a worker has room ──▶ running twice
 *      one of two succeeds    the task has succeeded; the other's token is void in the same commit, and it is killed
 *      one of two ends        it counts for nothing; what runs on is the task's attempt, as if it had always been
 *      stopped, or over time  both end
 *
 * Both are rows of the attempt table. The row of the task stores the leading one; its notes store the other.
 */
import type { AttemptSlot, TaskSlot } from '../../model/ids.ts';
import type { TaskNotes } from '../../model/task/notes.ts';
import { isLeading } from '../attempt/find-attempt.ts';
import type { State } from '../state.ts';
import { notesOf } from '../task/task-notes.ts';

/** The highest fence that a claim of the task ever had (I20). */
export function lastFence({ tasks }: State, slot: TaskSlot): number {
  const own = tasks.fence[slot]!;
  return tasks.notes.size === 0 ? own : Math.max(own, tasks.notes.get(slot)?.speculativeAttempt?.fence ?? 0);
}

/** The number of its newest attempt, whichever of two (I23). */
export function lastAttemptNo({ tasks }: State, slot: TaskSlot): number {
  const own = tasks.attemptNo[slot]!;
  return tasks.notes.size === 0 ? own : Math.max(own, tasks.notes.get(slot)?.speculativeAttempt?.attemptNo ?? 0);
}

/** Attempts that count against no budget: those that ended while another of the task went on (I39). */
export function uncountedAfterClaim(state: State, slot: TaskSlot): Pick<TaskNotes, 'uncounted' | 'endedBeside'> {
  const skipped = lastAttemptNo(state, slot) - state.tasks.attemptNo[slot]!;
  const { uncounted = 0, endedBeside = 0 } = notesOf(state, slot);
  return { uncounted: uncounted + skipped || undefined, endedBeside: endedBeside + skipped || undefined };
}

type AttemptNotes = Pick<TaskNotes, 'deadlineAt' | 'slowAt'>;

/** What is noted of this attempt alone. */
export function notesOfAttempt(state: State, attempt: AttemptSlot): AttemptNotes {
  const notes = notesOf(state, state.attempts.task[attempt]!);
  return isLeading(state, attempt) ? notes : (notes.speculativeAttempt ?? {});
}

/** The notes of its task, with these fields of the attempt set. */
export function withAttempt(state: State, attempt: AttemptSlot, fields: AttemptNotes): TaskNotes {
  const notes = notesOf(state, state.attempts.task[attempt]!);
  if (isLeading(state, attempt) || notes.speculativeAttempt === undefined) return { ...notes, ...fields };
  return { ...notes, speculativeAttempt: { ...notes.speculativeAttempt, ...fields } };
}
