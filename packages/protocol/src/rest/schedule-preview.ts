/** `GET` and `POST /v1/schedules/preview`: when a schedule would fire, before it is deployed. */
import { z } from 'zod';
import { scheduleObject, scheduleSchema } from './schedule-fields.ts';

const MAX_PREVIEWED = 1_000;

const asked = {
  from: z.iso.datetime({ offset: true }).optional().describe('Firings strictly after this time. Default: now.'),
};
const count = z.int().min(1).max(MAX_PREVIEWED);

const { shape } = scheduleObject;

/** Query of the `GET`. `cron` and `at` may be given several times. A schedule with a calendar needs the `POST`. */
export const previewScheduleQuerySchema = z.strictObject({
  cron: shape.cron.describe('A cron expression; several fire whenever one of them does.'),
  every: shape.every.describe('An interval, such as 15m.'),
  anchor: shape.anchor.describe('With every: a time from which the intervals are counted, in both directions.'),
  phase: shape.phase.describe('With every: shifts each firing.'),
  at: shape.at.describe('A time; several fire at each.'),
  timezone: shape.zone.describe('IANA time zone.'),
  gap: shape.gap,
  overlap: shape.overlap,
  start: shape.start.describe('No firing before this.'),
  end: shape.end.describe('No firing after this.'),
  limit: z.coerce.number().pipe(z.int().min(1)).optional().describe('How many firings in all.'),
  jitter: shape.jitter.describe('Each firing is late by less than this.'),
  ...asked,
  count: z.coerce.number().pipe(count).default(5).describe('How many of them.'),
});

/** Body of the `POST`: a whole schedule as a definition has it. */
export const previewScheduleSchema = z.strictObject({ schedule: scheduleSchema, ...asked, count: count.default(5) });
export type PreviewSchedule = z.input<typeof previewScheduleSchema>;

export const previewedFiringSchema = z.object({
  /** The time of the window: the logical time of its run. */
  at: z.iso.datetime(),
  /** When the run is created, if jitter makes that later than `at`. */
  firesAt: z.iso.datetime().optional(),
  /** What a clock in the zone shows, with its offset from UTC. */
  local: z.string(),
  /** What a clock change, the calendar or jitter does here; null where none has a hand in it. */
  note: z.string().nullable(),
});
export type PreviewedFiring = z.infer<typeof previewedFiringSchema>;

/** Fewer than asked for when the schedule does not fire so often. */
export const schedulePreviewSchema = z.object({ firings: z.array(previewedFiringSchema) });
export type SchedulePreview = z.infer<typeof schedulePreviewSchema>;
