/** Schedules as objects: listed, created, changed, and what became of each planned time. */
import { z } from 'zod';
import { nameSchema, pageQuerySchema } from './common.ts';
import { problemBodySchema, scheduleViewSchema } from './dags.ts';
import { runIdSchema } from './runs.ts';
import { checkSchedule, type NewScheduleInput, newScheduleObject, newScheduleSchema } from './schedule-fields.ts';

const instant = z.iso.datetime();
const ORIGINS = ['definition', 'api'] as const;

/** Query of `GET /v1/schedules`. */
export const listSchedulesSchema = pageQuerySchema.extend({
  cursor: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,200}(\/\d{1,10})?$/, 'is not a cursor from a page')
    .optional(),
  dag: nameSchema.optional().describe('Of this dag only.'),
  paused: z.enum(['true', 'false']).optional().describe('Only those that are paused, or that are not.'),
  origin: z.enum(ORIGINS).optional().describe('Only those of definitions, or of the API.'),
});

export const listedScheduleSchema = scheduleViewSchema.extend({
  dag: z.string(),
  /** `definition`: a deploy sets it. `api`: it was created without a deploy. */
  origin: z.enum(ORIGINS),
  /** Grows with each change. */
  revision: z.int(),
  /** Who set it as it is, and when. */
  setBy: z.string(),
  setAt: instant,
  /** How many of its windows have become runs. */
  fired: z.int(),
  /** In the answer to a creation or an edit: what still works and should be written otherwise. Absent when there is nothing. */
  warnings: z.array(z.string()).optional(),
});
export type ListedSchedule = z.infer<typeof listedScheduleSchema>;

/** In order of the dag's name, and of their creation. */
export const schedulePageSchema = z.object({ items: z.array(listedScheduleSchema), cursor: z.string().nullable() });
export type SchedulePage = z.infer<typeof schedulePageSchema>;

/** Body of `POST /v1/dags/{name}/schedules`. */
const createdObject = newScheduleObject.extend({ name: nameSchema });
export const createScheduleSchema = createdObject.superRefine(checkSchedule) as unknown as z.ZodType<
  z.output<typeof createdObject>,
  NewSchedule
>;
export type NewSchedule = NewScheduleInput & { readonly name: string };

/** Body of `PUT /v1/dags/{name}/schedules/{schedule}`: all of it, as it is from now on. */
export const editScheduleSchema = newScheduleSchema;
export type EditedSchedule = NewScheduleInput;

export const MAX_SCHEDULES_AT_ONCE = 1_000;

/** Body of `POST /v1/schedules`. */
const createdOfDagObject = createdObject.extend({ dag: nameSchema });
export const createSchedulesSchema = z.strictObject({
  items: z.array(createdOfDagObject.superRefine(checkSchedule)).min(1).max(MAX_SCHEDULES_AT_ONCE),
});
/** A line of the body of `POST /v1/schedules/import`. */
export const importedScheduleSchema = createdOfDagObject.superRefine(checkSchedule);

export interface NewSchedules {
  readonly items: readonly (NewSchedule & { readonly dag: string })[];
}

/** In the order of the request. Those of one dag are created together or not at all. */
export const schedulesCreatedSchema = z.object({
  created: z.int(),
  items: z.array(
    z.object({
      dag: z.string(),
      name: z.string(),
      /** Why it was not created; null when it was, or when it is there exactly so. */
      error: problemBodySchema.nullable(),
    }),
  ),
  /** What still works and should be written otherwise: old words, settings without effect. Absent when there is nothing. */
  warnings: z.array(z.string()).optional(),
});
export type SchedulesCreated = z.infer<typeof schedulesCreatedSchema>;

export const scheduleDeletedSchema = z.object({ dag: z.string(), name: z.string(), deleted: z.literal(true) });
export type ScheduleDeleted = z.infer<typeof scheduleDeletedSchema>;

export const windowViewSchema = z.object({
  /** The name of its schedule; null for one that was removed since. */
  schedule: z.string().nullable(),
  firesAt: instant,
  /** The last of them, where one row speaks of several that were skipped. */
  untilAt: instant,
  /** For a wall time that a clock change removed. */
  wallTime: z.string().nullable(),
  /** How many windows this speaks of; 0 when there were too many to count. */
  count: z.int(),
  skipped: z.enum(['paused', 'missed', 'gap', 'overlap', 'deadline', 'deleted', 'unmet', 'quota']).nullable(),
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
    .regex(/^\d{1,16}(-\d{1,10})?$/, 'is not a cursor from a page')
    .optional(),
  schedule: nameSchema.optional().describe('Of this schedule only.'),
});
