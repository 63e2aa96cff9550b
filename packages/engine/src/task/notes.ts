/**
 * What is kept of a task beside its row, for those that ask for more than plain retries and one timeout. It is written whole,
 * as JSON, by each change that alters it, so that live, on load and in replay it is the same (I19). Plain tasks have none.
 */
import type { TaskSpec } from '../dag/spec.ts';
import type { State } from '../state.ts';
import type { AttemptOutcome } from './outcome.ts';

export interface TaskNotes {
  /** How many attempts ended so since its budgets began, where classes have budgets of their own (I39). */
  readonly counts?: Readonly<Partial<Record<AttemptOutcome, number>>> | undefined;
  /** What its next attempt may have, once it was more than the task says. */
  readonly memoryBytes?: number | undefined;
}

/** In this order in the text, so that equal notes are equal texts. */
const FIELDS = ['counts', 'memoryBytes'] as const satisfies readonly (keyof TaskNotes)[];

export function notesOf({ tasks }: State, slot: number): TaskNotes {
  return tasks.notes.get(slot) ?? NONE;
}

const NONE: TaskNotes = {};

/** For a change: the notes with these fields set, or with `undefined` taken out; nothing where that alters nothing. */
export function noting(before: TaskNotes, fields: TaskNotes): { readonly notes?: string } {
  const text = textOf({ ...before, ...fields });
  return text === textOf(before) ? NO_NOTES : { notes: text };
}

export const NO_NOTES: { readonly notes?: string } = {};

export function keepNotes(state: State, slot: number, text: string | null | undefined): void {
  if (text !== undefined && text !== null) state.tasks.notes.set(slot, JSON.parse(text) as TaskNotes);
}

function textOf(notes: TaskNotes): string {
  return JSON.stringify(Object.fromEntries(FIELDS.map((field) => [field, notes[field]])));
}

/** Whether anything is ever kept of this task. */
export function keepsNotes({ retry, onResource }: TaskSpec): boolean {
  return retry.budgets !== undefined || onResource !== undefined;
}
