/**
 * Second attempts of tasks whose first one takes far longer than its siblings: I23 allows two while a task that opted in is
 * speculated upon. A dag without such tasks never comes here.
 *
 *   running ── far longer than its siblings, and a worker has room ──▶ running twice
 *      one of two succeeds    the task has succeeded; the other's token is void in the same commit, and it is killed
 *      one of two ends        it counts for nothing; what runs on is the task's attempt, as if it had always been
 *      stopped, or over time  both end
 *
 * The task's own slot is of the attempt that was there first. The other has a *shadow*: a slot of the task table that belongs to
 * no run's list, so that leases, timers and heartbeats know it like any other. What must survive is in the notes of the task.
 */
import type { TaskNotes } from '../../model/task/notes.ts';
import type { State } from '../state.ts';
import { notesOf } from '../task/task-notes.ts';

/** The shadow of the task's second attempt; -1 when it has none that runs. */
export function shadowOf({ stragglers }: State, slot: number): number {
  return stragglers.shadows.size === 0 ? -1 : (stragglers.shadows.get(slot) ?? -1);
}

/** The task that a slot belongs to: its own, unless it is a shadow. */
export function ownerOf({ stragglers }: State, slot: number): number {
  return stragglers.owners.size === 0 ? slot : (stragglers.owners.get(slot) ?? slot);
}

/** Which of the slots of a task has the attempt with this fence: its own, if none has. */
export function holderOf(state: State, slot: number, fence: number): number {
  const shadow = shadowOf(state, slot);
  return shadow >= 0 && state.tasks.fence[shadow] === fence ? shadow : slot;
}

/** The highest fence that a claim of the task ever had (I20). */
export function lastFence({ tasks }: State, slot: number): number {
  return Math.max(tasks.fence[slot]!, tasks.notes.get(slot)?.second?.fence ?? 0);
}

/** The number of its newest attempt, whichever of two (I23). */
export function lastAttemptNo({ tasks }: State, slot: number): number {
  return Math.max(tasks.attemptNo[slot]!, tasks.notes.get(slot)?.second?.attemptNo ?? 0);
}

/** Attempts that count against no budget: those that ended while another of the task went on (I39). */
export function uncountedAfterClaim(state: State, slot: number): Pick<TaskNotes, 'uncounted' | 'doubled'> {
  const skipped = lastAttemptNo(state, slot) - state.tasks.attemptNo[slot]!;
  const { uncounted = 0, doubled = 0 } = notesOf(state, slot);
  return { uncounted: uncounted + skipped || undefined, doubled: doubled + skipped || undefined };
}

/** What its slot needs of the notes of the task. */
export function keepShadowNotes(state: State, slot: number): void {
  const [shadow, second] = [shadowOf(state, slot), state.tasks.notes.get(slot)?.second];
  if (shadow < 0 || second === undefined) return;
  const { deadlineAt, slowAt } = second;
  state.tasks.notes.set(shadow, { deadlineAt, slowAt });
}

/** Fields of one attempt, set in the notes of its task: in those of the second where it is that. */
export function withAttempt(
  { tasks }: State,
  slot: number,
  owner: number,
  fields: Pick<TaskNotes, 'deadlineAt' | 'slowAt'>,
): TaskNotes {
  const notes = tasks.notes.get(owner) ?? {};
  if (slot === owner || notes.second === undefined) return { ...notes, ...fields };
  return { ...notes, second: { ...notes.second, ...fields } };
}
