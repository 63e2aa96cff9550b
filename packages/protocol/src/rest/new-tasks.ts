/** Tasks that a running attempt adds to its run: what its code says of them, as JSON, and what is checked before anybody decides. */
import { z } from 'zod';
import { InexactJson, parseExactJson } from '../exact-json.ts';
import { MAX_ADDED_AT_ONCE, MAX_ADDED_BYTES, MAX_ADDED_NEEDS } from '../limits.ts';
import { nameSchema, problemsOf } from './common.ts';
import { canonical } from './dag-spec.ts';
import { inputValuesSchema } from './work.ts';

const names = z.array(z.string().max(200)).max(MAX_ADDED_NEEDS, `must be at most ${MAX_ADDED_NEEDS}`).default([]);

export const newTaskSchema = z.strictObject({
  name: nameSchema,
  /** The name of a template of the dag. */
  template: z.string().max(200),
  /** What it waits for, beside the task that adds it. */
  needs: names,
  /** Tasks that have not begun, and are to wait for it. */
  before: names,
  /** Values, over those of the template. */
  inputs: inputValuesSchema.optional(),
});

const newTasksSchema = z
  .array(newTaskSchema)
  .min(1, 'must have at least one task')
  .max(MAX_ADDED_AT_ONCE, `must be at most ${MAX_ADDED_AT_ONCE} in one call`);

/** What a user may write. */
export type NewTaskDefinition = z.input<typeof newTaskSchema>;

export interface NewTaskShape {
  readonly name: string;
  readonly template: string;
  readonly needs: readonly string[];
  readonly before: readonly string[];
  readonly inputs: string | null;
}

export type NewTasksRead =
  | { readonly ok: true; readonly tasks: readonly NewTaskShape[] }
  | { readonly ok: false; readonly fault: string };

export function readNewTasks(text: string): NewTasksRead {
  if (text.length > MAX_ADDED_BYTES || Buffer.byteLength(text) > MAX_ADDED_BYTES) {
    return wrong(`The tasks to be added are more than ${MAX_ADDED_BYTES} bytes of JSON: add them in several calls.`);
  }
  let said: unknown;
  try {
    said = parseExactJson(text);
  } catch (error) {
    if (error instanceof InexactJson) return wrong(`The tasks to be added can't be kept: ${error.message}`);
    return wrong('The tasks to be added are not JSON.');
  }
  const read = newTasksSchema.safeParse(said);
  if (!read.success) {
    const [first] = problemsOf(read.error);
    return wrong(`The tasks to be added are not right: ${[first?.path, first?.message].filter(Boolean).join(' ')}.`);
  }
  return {
    ok: true,
    tasks: read.data.map(({ inputs, ...task }) => {
      const isEmpty = inputs === undefined || Object.keys(inputs).length === 0;
      return { ...task, inputs: isEmpty ? null : JSON.stringify(canonical(inputs)) };
    }),
  };
}

const wrong = (fault: string): NewTasksRead => ({ ok: false, fault });
