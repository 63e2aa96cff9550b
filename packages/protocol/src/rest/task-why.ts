/** Why one task does not run: the chain of reasons, what helps, and when it probably starts. */
import { z } from 'zod';
import { WHY_CODES } from '../words.ts';
import { runIdSchema, taskStateSchema } from './runs.ts';
import { whySchema } from './why.ts';

/** Why one task waits, from the outermost reason to the innermost. */
export const taskWhySchema = z.object({
  run: runIdSchema,
  dag: z.string(),
  task: z.string(),
  state: taskStateSchema,
  /** The first link of the chain; null when the task waits for nothing. */
  code: z.enum(WHY_CODES).nullable(),
  message: z.string(),
  until: z.iso.datetime().nullable(),
  /** All that holds it. `task` differs from the task that was asked for where that waits for another one. */
  chain: z.array(whySchema.extend({ task: z.string() })),
  /** What helps, for the innermost reason that somebody can do something about. */
  suggestion: z.string().nullable(),
  /** How many tasks of its tenant and queue go first; null while something else holds it. Counted up to 10,000. */
  ahead: z.int().nullable(),
  /** When it probably starts, and how that was estimated; null where nothing tells. */
  predictedStart: z.object({ at: z.iso.datetime(), basis: z.string() }).nullable(),
  /** Servers that did not answer: what they know is missing. */
  missing: z.array(z.string()),
});
export type TaskWhy = z.infer<typeof taskWhySchema>;
