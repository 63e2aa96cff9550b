/** Schedules of all dags, and what became of each planned time. */
import { z } from 'zod';
import { nameSchema, pageQuerySchema } from './common.ts';
import { scheduleViewSchema } from './dags.ts';
import { runIdSchema } from './runs.ts';

const instant = z.iso.datetime();

export const listSchedulesSchema = pageQuerySchema.extend({ cursor: nameSchema.optional() });

export const listedScheduleSchema = scheduleViewSchema.extend({ dag: z.string() });
export type ListedSchedule = z.infer<typeof listedScheduleSchema>;

/** In order of the dag's name. */
export const schedulePageSchema = z.object({ items: z.array(listedScheduleSchema), cursor: z.string().nullable() });
export type SchedulePage = z.infer<typeof schedulePageSchema>;

export const windowViewSchema = z.object({
  firesAt: instant,
  /** The last of them, where one row speaks of several that were skipped. */
  untilAt: instant,
  /** For a wall time that a clock change removed. */
  wallTime: z.string().nullable(),
  /** How many windows this speaks of; 0 when there were too many to count. */
  count: z.int(),
  skipped: z.enum(['paused', 'missed', 'gap']).nullable(),
  run: runIdSchema.nullable(),
  decidedAt: instant,
});
export type WindowView = z.infer<typeof windowViewSchema>;

/** Newest first. */
export const windowPageSchema = z.object({ items: z.array(windowViewSchema), cursor: z.string().nullable() });
export type WindowPage = z.infer<typeof windowPageSchema>;

/** Query of `GET /v1/dags/{name}/windows`. */
export const listWindowsSchema = pageQuerySchema.extend({
  cursor: z
    .string()
    .regex(/^\d{1,16}$/, 'is not a cursor from a page')
    .optional(),
});
