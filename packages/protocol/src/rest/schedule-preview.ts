/** `GET` and `POST /v1/schedules/preview`: when a schedule would fire, before it is deployed. */
import { z } from 'zod';
import { scheduleSchema } from './dag-definition.ts';

const MAX_PREVIEWED = 1_000;

const asked = {
  from: z.iso.datetime({ offset: true }).optional().describe('Firings strictly after this time. Default: now.'),
};
const count = z.int().min(1).max(MAX_PREVIEWED);

/** Query of the `GET`. */
export const previewScheduleQuerySchema = z.strictObject({
  cron: scheduleSchema.shape.cron.describe('The cron expression.'),
  timezone: scheduleSchema.shape.zone.describe('IANA time zone.'),
  gap: scheduleSchema.shape.gap,
  overlap: scheduleSchema.shape.overlap,
  ...asked,
  count: z.coerce.number().pipe(count).default(5).describe('How many of them.'),
});

/** Body of the `POST`: a whole schedule as a definition has it. */
export const previewScheduleSchema = z.strictObject({ schedule: scheduleSchema, ...asked, count: count.default(5) });
export type PreviewSchedule = z.input<typeof previewScheduleSchema>;

export const previewedFiringSchema = z.object({
  at: z.iso.datetime(),
  /** What a clock in the zone shows, with its offset from UTC. */
  local: z.string(),
  /** What a clock change does here; null where none has a hand in it. */
  note: z.string().nullable(),
});
export type PreviewedFiring = z.infer<typeof previewedFiringSchema>;

/** Fewer than asked for when the schedule does not fire so often. */
export const schedulePreviewSchema = z.object({ firings: z.array(previewedFiringSchema) });
export type SchedulePreview = z.infer<typeof schedulePreviewSchema>;
