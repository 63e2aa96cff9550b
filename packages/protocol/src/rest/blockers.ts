/** What holds back the most work right now. */
import { z } from 'zod';
import { WHY_CODES } from '../words.ts';

export const blockerSchema = z.object({
  /** As in `why` of a task. */
  code: z.enum(WHY_CODES),
  /** `dag:etl`, `pool:database`, `queue:default`, `tenant`, `cluster`. */
  subject: z.string(),
  /** Tasks that wait for it; with `run_queued` and `run_key` runs. */
  count: z.int(),
  /** When the oldest run of them was created. */
  since: z.iso.datetime(),
  message: z.string(),
  /** What would help, as a command where there is one. */
  remedy: z.string(),
});
export type BlockerView = z.infer<typeof blockerSchema>;

/** The most work first. `missing` are servers that gave no answer: what waits there is missing. */
export const blockerPageSchema = z.object({
  items: z.array(blockerSchema),
  cursor: z.string().nullable(),
  missing: z.array(z.string()),
});
export type BlockerPage = z.infer<typeof blockerPageSchema>;
