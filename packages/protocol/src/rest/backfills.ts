/** Backfills over REST: runs for a range of past windows of a schedule. */
import { z } from 'zod';
import { nameSchema, pageQuerySchema } from './common.ts';
import { runIdSchema, runOutcomeSchema } from './runs.ts';

const instant = z.iso.datetime();
const given = z.iso.datetime({ offset: true });

export const BACKFILL_STATES = ['running', 'paused', 'ended', 'cancelled', 'stopped'] as const;
export const BACKFILL_CHOICES = ['missing', 'failed', 'all'] as const;
export const MAX_BACKFILL_WINDOWS = 10_000;
export const MAX_BACKFILL_ACTIVE = 100;

/** Body of `POST /v1/dags/{name}/backfills` and of its preview. */
export const newBackfillSchema = z.strictObject({
  schedule: nameSchema.default('default').describe('Name of the schedule whose windows are meant.'),
  from: given.describe('The first window that it may decide.'),
  to: given.optional().describe('The last one. Default: now.'),
  which: z
    .enum(BACKFILL_CHOICES)
    .default('missing')
    .describe('`missing`: windows without a run. `failed`: those whose newest run failed. `all`: each of them, again.'),
  order: z.enum(['forward', 'backward']).default('forward').describe('`backward`: the newest window first.'),
  until: nameSchema.optional().describe('Name of a task or group: its runs go up to that.'),
  maxActive: z.int().min(1).max(MAX_BACKFILL_ACTIVE).default(4).describe('How many of its runs are live at a time.'),
  share: z
    .number()
    .min(0.001)
    .max(1)
    .default(0.05)
    .describe('The part of claims and slots that its tasks get while other tasks wait for the same queue.'),
});
export type NewBackfill = z.input<typeof newBackfillSchema>;

export const backfillViewSchema = z.object({
  id: z.uuid(),
  dag: z.string(),
  schedule: z.string(),
  from: instant,
  to: instant,
  which: z.enum(BACKFILL_CHOICES),
  order: z.enum(['forward', 'backward']),
  until: z.string().nullable(),
  maxActive: z.int(),
  share: z.number(),
  /** `ended`: all windows are decided, and the runs have ended. `stopped`: the server gave it up; `reason` says why. */
  state: z.enum(BACKFILL_STATES),
  reason: z.string().nullable(),
  actor: z.string(),
  startedAt: instant,
  /** Null while it is live. */
  endedAt: instant.nullable(),
  /** Windows in the range, how many of them are decided so far, and how: a run was created, or none was needed. */
  windows: z.int(),
  decided: z.int(),
  created: z.int(),
  skipped: z.int(),
  /** Its runs: live ones, and those that have ended, by outcome. */
  runs: z.object({ active: z.int(), succeeded: z.int(), failed: z.int(), cancelled: z.int() }),
  /** When it will have ended if it goes on as it did; null while that is not known. */
  estimatedEndAt: instant.nullable(),
});
export type BackfillView = z.infer<typeof backfillViewSchema>;

/** Newest first. */
export const backfillPageSchema = z.object({ items: z.array(backfillViewSchema), cursor: z.string().nullable() });
export type BackfillPage = z.infer<typeof backfillPageSchema>;

/** Query of `GET /v1/backfills`. */
export const listBackfillsSchema = pageQuerySchema.extend({
  cursor: z
    .string()
    .regex(/^\d{1,16}$/, 'is not a cursor from a page')
    .optional(),
  dag: nameSchema.optional().describe('Of this dag only.'),
});

export const previewedWindowSchema = z.object({
  at: instant,
  /** `create`: it has no run yet. `again`: it gets another one. `skip`: it needs none. */
  action: z.enum(['create', 'again', 'skip']),
  /** Its newest run. */
  run: runIdSchema.nullable(),
  /** Null while that run is live. */
  outcome: runOutcomeSchema.nullable(),
});

/** The windows, in the order in which the backfill would decide them. */
export const backfillPreviewSchema = z.object({
  dag: z.string(),
  schedule: z.string(),
  windows: z.int(),
  toCreate: z.int(),
  items: z.array(previewedWindowSchema),
});
export type BackfillPreview = z.infer<typeof backfillPreviewSchema>;

export const cancelBackfillSchema = z.strictObject({
  runs: z.boolean().default(false).describe('Also cancel its live runs. Without it they continue.'),
});
