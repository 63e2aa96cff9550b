/** Requests with one thing per line (NDJSON), and what became of the lines. */
import { z } from 'zod';
import { problemBodySchema } from './dags.ts';

export const MAX_IMPORT_LINES = 20_000;
export const MAX_IMPORT_BYTES = 32 * 1024 * 1024;
/** Room for the largest params, and more. */
export const MAX_IMPORT_LINE_BYTES = 1024 * 1024;

export const importedSchema = z.object({
  /** Those that are there now, also those that were there exactly so before. */
  created: z.int(),
  refused: z.int(),
  /** Why, in order of the lines; the first hundred. */
  errors: z.array(
    z.object({
      /** The number of the first line that was refused for this, from 1. */
      line: z.int(),
      /** How many lines were. */
      lines: z.int(),
      error: problemBodySchema,
    }),
  ),
});
export type Imported = z.infer<typeof importedSchema>;
