/** What closes a run, as users write it: setups and teardowns, what undoes a task, hooks. */
import { z } from 'zod';
import { MAX_TASKS } from '../limits.ts';
import type { HOOK_EVENTS } from '../words.ts';
import { durationSchema, nameSchema } from './common.ts';
import { retriesSchema } from './retries.ts';
import { workFields } from './work.ts';

export type HookEvent = (typeof HOOK_EVENTS)[number]['on'];
export type HookField = (typeof HOOK_EVENTS)[number]['field'];

/** Other runs are called by tasks of the dag alone. */
const { dag: _dag, wait: _wait, ...sideWork } = workFields;

/** Runs beside a task, and has of one what it needs for that. */
const sideTaskSchema = z.strictObject({
  ...sideWork,
  /** The one of the task that it belongs to unless told. */
  queue: nameSchema.optional(),
  retries: retriesSchema.prefault({}),
  timeout: durationSchema.nullable().default(null),
});

const hooksSchema = z.strictObject({
  before: sideTaskSchema.optional(),
  after: sideTaskSchema.optional(),
  onSuccess: sideTaskSchema.optional(),
  onFailure: sideTaskSchema.optional(),
  /** Once for each time that it is tried again. */
  onRetry: sideTaskSchema.optional(),
  /** Once for each attempt, or for the run, that takes longer than its soft timeout. */
  onSlow: sideTaskSchema.optional(),
});
export type Hooks = z.output<typeof hooksSchema>;

/** The fields of a task; its schema spreads them. */
export const closingTaskFields = {
  /** Makes something that a teardown takes down. */
  setup: z.boolean().optional(),
  /** Takes down what these tasks have made, however the run goes; `true` for one that always runs. */
  teardown: z
    .union(
      [z.literal(true), z.string().max(200), z.array(z.string().max(200)).min(1).max(MAX_TASKS)],
      'must be true, or the names of its setups',
    )
    .optional(),
  /** Undoes what the task has done, when the run fails or is cancelled and the dag compensates. */
  undo: sideTaskSchema.optional(),
  hooks: hooksSchema.optional(),
} as const;

/** The fields of a dag; its schema spreads them. */
export const closingDagFields = {
  /** When a run fails or is cancelled, what was done is undone, in reverse order. */
  compensate: z.boolean().optional(),
  hooks: hooksSchema.optional(),
} as const;

export type SideTask = z.output<typeof sideTaskSchema>;
