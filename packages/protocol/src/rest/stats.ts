/** How often runs end, how, and after how long: from sums that are kept while runs end. */
import { z } from 'zod';
import { nameSchema } from './common.ts';

/** The sums are kept for 400 days. */
const MAX_STEPS = 400;
const MAX_DAYS = 400;
const MAX_NAMED = 200;

/** Query of `GET /v1/stats`. */
export const statsQuerySchema = z.strictObject({
  dag: nameSchema.optional().describe('Only runs of this dag.'),
  by: z.enum(['hour', 'day']).default('hour').describe('How long each step is.'),
  steps: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_STEPS)
    .default(24)
    .describe('How many steps, the current one included.'),
  zone: z.string().min(1).max(100).default('UTC').describe('IANA time zone in which days begin.'),
});
export type StatsQuery = z.infer<typeof statsQuerySchema>;

const duration = z.number().nullable();

/** Of runs that ended: how many with each outcome, and how long those took that succeeded. Null without any. */
export const endedSumsSchema = z.object({
  succeeded: z.int(),
  failed: z.int(),
  cancelled: z.int(),
  p50Ms: duration,
  p95Ms: duration,
  p99Ms: duration,
});
export type EndedSums = z.infer<typeof endedSumsSchema>;

/**
 * Runs by when they ended, oldest step first. Durations are of runs that succeeded and were not opened again, and exact within 9 %. A day
 * begins at the full hour of UTC that is nearest after midnight of the zone.
 */
export const statsSchema = z.object({
  steps: z.array(
    endedSumsSchema.extend({
      /** When it begins: an instant for hours, a date for days. */
      from: z.string(),
    }),
  ),
  total: endedSumsSchema,
});
export type Stats = z.infer<typeof statsSchema>;

/** Query of `GET /v1/stats/dags`. */
export const dagStatsQuerySchema = z.strictObject({
  days: z.coerce.number().int().min(1).max(MAX_DAYS).default(30).describe('How many times 24 hours, up to now.'),
  dag: z
    .union([nameSchema, z.array(nameSchema).max(MAX_NAMED)], `must be the name of a dag, at most ${MAX_NAMED} times`)
    .optional()
    .describe('Of these dags only. May be given up to 200 times. Default: all.'),
});

/** By name. Dags of which no run ended are left out. */
export const dagStatsSchema = z.object({
  items: z.array(endedSumsSchema.extend({ dag: z.string() })),
  cursor: z.null(),
});
export type DagStats = z.infer<typeof dagStatsSchema>;
