/**
 * Notes of a task: data beside its row, for tasks that use more than plain retries and one timeout. They are JSON. Each
 * change that alters them writes them completely, so they are the same live, on load and in replay (I19). Plain tasks have
 * none.
 */
import type { TaskSlot } from '../../model/ids.ts';
import { readNotes, type TaskNotes } from '../../model/task/notes.ts';
import type { State } from '../state.ts';

export function notesOf({ tasks }: State, slot: TaskSlot): TaskNotes {
  return tasks.notes.get(slot) ?? NONE;
}

const NONE: TaskNotes = {};

/** Somebody has marked the task since, so it no longer matters that it expired. */
export function forgetExpiry({ tasks }: State, slot: TaskSlot): void {
  const { expired, ...others } = tasks.notes.get(slot) ?? NONE;
  if (expired !== undefined) tasks.notes.set(slot, others);
}

/**
 * Since when a task was ready tells nothing once it is not, and has no claim either: when it is ready again it has its whole time
 * in the queue again. Its row may still say so; a load forgets it as well.
 */
export function forgetQueued({ tasks }: State, slot: TaskSlot): void {
  const { queuedAt, ...others } = tasks.notes.get(slot) ?? NONE;
  if (queuedAt !== undefined) tasks.notes.set(slot, others);
}

/** Only a task that has one has notes. */
export function hasRow({ tasks }: State, slot: TaskSlot): boolean {
  return tasks.fence[slot]! > 0 || tasks.notes.has(slot);
}

export function keepNotes(state: State, slot: TaskSlot, text: string | null | undefined): void {
  if (text !== undefined && text !== null) state.tasks.notes.set(slot, readNotes(text));
}

/** Its row says what it is. Others are what their upstream makes of them (D4). */
export function hasOwnState({ tasks }: State, slot: TaskSlot): boolean {
  if (tasks.cleared[slot] !== 0) return false;
  return tasks.fence[slot]! > 0 || tasks.notes.get(slot)?.expired !== undefined;
}
