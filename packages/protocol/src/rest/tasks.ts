/** Tasks of a run and their attempts, each with a route of its own: a run of 10,000 tasks is read in pages. */
import { z } from 'zod';
import { nameSchema, pageQuerySchema } from './common.ts';
import { attemptViewSchema, runIdSchema, taskStateSchema, taskViewSchema } from './runs.ts';

/** Query of `GET /v1/runs/{id}/tasks`. The cursor is the number of the next task. */
export const listTasksSchema = pageQuerySchema.extend({
  cursor: z
    .string()
    .regex(/^\d{1,10}$/, 'is not a cursor from a page')
    .optional(),
  state: taskStateSchema.optional(),
  /** Tasks of this group, and of groups in it. A mapped task is a group by its own name. */
  group: nameSchema.optional(),
});
export type ListTasks = z.infer<typeof listTasksSchema>;

/** In the order of the definition, and after those the instances of mapped tasks, item by item. */
export const taskPageSchema = z.object({ items: z.array(taskViewSchema), cursor: z.string().nullable() });
export type TaskPage = z.infer<typeof taskPageSchema>;

/** Without the premium for burst, which is known of whole days. */
const attemptCostSchema = z.object({ amount: z.number(), currency: z.string() });
export type AttemptCost = z.infer<typeof attemptCostSchema>;

export const pricedAttemptSchema = attemptViewSchema.extend({
  /** Null while it runs, without a rate card, and for a task that runs another dag. */
  cost: attemptCostSchema.nullable(),
});
export type PricedAttempt = z.infer<typeof pricedAttemptSchema>;

/** Oldest first. */
export const attemptPageSchema = z.object({ items: z.array(pricedAttemptSchema), cursor: z.string().nullable() });
export type AttemptPage = z.infer<typeof attemptPageSchema>;

/** The answer to a retry: the task has a new budget of attempts, and what its failure had kept from running may run again. */
export const taskRetriedSchema = z.object({ run: runIdSchema, task: z.string(), state: taskStateSchema });
export type TaskRetried = z.infer<typeof taskRetriedSchema>;

/** `load`, `load[3]`, `part[2][5]`: what stands for a task in a path, once its signs are decoded. */
export const taskIdSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9_.-]{1,200}(?:\[\d{1,9}\]){0,3}$/,
    'must be the name of a task, such as load, or load[3] for an instance',
  );
