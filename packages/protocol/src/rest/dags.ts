/** Dags and the server's health over REST: what is shown of them. */
import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../errors.ts';
import { prioritySchema } from './common.ts';
import { scheduleSchema } from './dag-definition.ts';

/** The answer to a deploy. `changed` is false when the meaning is that of the current version. */
export const deployedSchema = z.object({
  name: z.string(),
  version: z.int(),
  hash: z.string(),
  changed: z.boolean(),
});
export type Deployed = z.infer<typeof deployedSchema>;

export const scheduleViewSchema = scheduleSchema.extend({
  paused: z.boolean(),
  /** When it fires next; null while it is paused, or when it never will. */
  nextAt: z.iso.datetime().nullable(),
});
export type ScheduleView = z.infer<typeof scheduleViewSchema>;

export const dagViewSchema = z.object({
  name: z.string(),
  version: z.int(),
  hash: z.string(),
  priority: prioritySchema,
  maxActiveRuns: z.int().nullable(),
  maxActiveTasks: z.int().nullable(),
  taskCount: z.int(),
  schedule: scheduleViewSchema.nullable(),
  deployedAt: z.iso.datetime(),
});
export type DagView = z.infer<typeof dagViewSchema>;

export const dagPageSchema = z.object({ items: z.array(dagViewSchema), cursor: z.string().nullable() });
export type DagPage = z.infer<typeof dagPageSchema>;

/** The answer to `POST …/schedule/pause` and `…/resume`. */
export const schedulePausedSchema = z.object({ name: z.string(), paused: z.boolean() });
export type SchedulePaused = z.infer<typeof schedulePausedSchema>;

/** `/healthz`: the process lives. `/readyz`: it can serve. Neither needs a credential, so neither tells more than this. */
export const healthSchema = z.object({ status: z.enum(['ok', 'starting', 'unavailable']) });
export type Health = z.infer<typeof healthSchema>;

/** For reading an answer with an error; a code that this build does not know does not pass. */
export const problemBodySchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]),
  retryable: z.boolean(),
  remedy: z.string(),
  problems: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  retryAfterMs: z.number().optional(),
});
