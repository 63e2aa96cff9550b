/** The fields of a definition that let tasks add tasks to their run. */
import { z } from 'zod';
import { MAX_TASKS, MAX_TEMPLATES } from '../limits.ts';
import { poisonFields } from './breaker-fields.ts';
import { durationSchema, nameSchema } from './common.ts';
import { placementFields } from './placement-fields.ts';
import { retriesSchema } from './retries.ts';
import { limitFields } from './task-limits.ts';
import { TRIGGER_RULES } from './trigger-rules.ts';
import { workFields } from './work.ts';

const adds = z.boolean().optional();

/** The fields of a task; its schema spreads them. */
export const addingTaskFields = {
  /** Its attempts may add tasks to their run, made of the templates of the dag. */
  adds,
} as const;

/** A task without a place in the graph: it gets one, and a name, when it is added. */
const templateSchema = z.strictObject({
  name: nameSchema,
  ...workFields,
  queue: nameSchema.default('default'),
  /** What each task that is made of it needs, beside what the one that adds it says. */
  needs: z.array(z.string().max(200)).max(MAX_TASKS).default([]),
  rule: z.enum(TRIGGER_RULES).optional(),
  retries: retriesSchema.prefault({}),
  timeout: durationSchema.nullable().default(null),
  ...limitFields,
  ...placementFields,
  ...poisonFields,
  adds,
});

/** The fields of a dag; its schema spreads them. */
export const addingDagFields = {
  /** What tasks with `adds` may add. */
  templates: z.array(templateSchema).min(1).max(MAX_TEMPLATES, `must be at most ${MAX_TEMPLATES}`).optional(),
  /** Maximum number of tasks that can be added to one run. Default: 100. */
  maxAddedTasks: z.int().min(1).max(MAX_TASKS).optional(),
} as const;
