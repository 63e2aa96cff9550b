/** For how long history is kept, and its removal ahead of time. */
import { z } from 'zod';

export const retentionSchema = z.object({
  /** Runs that ended longer ago go, with their tasks, logs and keys. */
  runDays: z.int(),
  /** For how long the event stream can be read back. */
  journalDays: z.int(),
  /** Open dead letters expire after it; closed ones are removed when that was longer ago. */
  deadLetterDays: z.int(),
});
export type Retention = z.infer<typeof retentionSchema>;

/** What a round has removed. `complete` is false when there is more: ask again. */
export const retentionRunSchema = z.object({
  partitions: z.int(),
  runs: z.int(),
  keys: z.int(),
  complete: z.boolean(),
});
export type RetentionRun = z.infer<typeof retentionRunSchema>;
