/** Tasks of a run and their attempts, each with a route of its own: a run of 10,000 tasks is read in pages. */
import { z } from 'zod';
import { pageQuerySchema } from './common.ts';
import { attemptViewSchema, runIdSchema, taskStateSchema, taskViewSchema } from './runs.ts';

/** Query of `GET /v1/runs/{id}/tasks`. The cursor is the number of tasks seen. */
export const listTasksSchema = pageQuerySchema.extend({
  cursor: z
    .string()
    .regex(/^\d{1,5}$/, 'is not one that a page has given')
    .optional(),
  state: taskStateSchema.optional(),
});
export type ListTasks = z.infer<typeof listTasksSchema>;

/** In the order of the definition. */
export const taskPageSchema = z.object({ items: z.array(taskViewSchema), cursor: z.string().nullable() });
export type TaskPage = z.infer<typeof taskPageSchema>;

/** Oldest first. */
export const attemptPageSchema = z.object({ items: z.array(attemptViewSchema), cursor: z.string().nullable() });
export type AttemptPage = z.infer<typeof attemptPageSchema>;

/** The answer to a retry: the task has a new budget of attempts, and what its failure had kept from running may run again. */
export const taskRetriedSchema = z.object({ run: runIdSchema, task: z.string(), state: taskStateSchema });
export type TaskRetried = z.infer<typeof taskRetriedSchema>;
