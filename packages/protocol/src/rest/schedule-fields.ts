/**
 * What a definition says about when a dag runs by itself. Here the text is read; the grammar of cron, and whether a schedule
 * can fire at all, are known to the engine alone.
 */
import { z } from 'zod';
import type { DayRuleShape } from '../ical/day-rule-shape.ts';
import { daysOfIcal, isIcal } from '../ical/days-of-ical.ts';
import { type Priority, spanSchema } from './common.ts';
import { type RequiresShape, requiresSpec } from './requires-fields.ts';
import { checkPolicies, type IF_RUNNING, schedulePolicyFields } from './schedule-policy-fields.ts';

const MAX_CRONS = 20;
const MAX_TIMES = 1_000;
const MAX_DATES = 2_000;
const MAX_ICAL = 512 * 1024;
const DAY_MS = 86_400_000;

const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] as const;
const LOCAL = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/;

/** With an offset it is an instant, in milliseconds; without one a time in the schedule's zone, which stays text. */
const pointSchema = z
  .string('must be a time such as "2027-01-01T09:00:00Z"')
  .max(40)
  .transform((text, context): number | string => {
    if (LOCAL.test(text)) return text;
    const at = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
    if (!Number.isNaN(at)) return at;
    const message = 'must be a time such as "2027-01-01T09:00:00Z", or "2027-01-01T09:00:00" for a time in the zone';
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

const cronSchema = z.string().min(1, 'must not be empty').max(200, 'must have at most 200 characters');
const datesSchema = z.array(z.string().max(40)).max(MAX_DATES);

const calendarSchema = z.strictObject({
  /** Days of the week on which it may fire. */
  weekdays: z.array(z.enum(WEEKDAYS)).min(1).max(7).optional(),
  /** `2027-12-25`, `2027-12-24/2028-01-01`, or `12-25` for every year. */
  exclude: datesSchema.optional(),
  only: datesSchema.optional(),
  /** The text of an iCal file. People write the name of a file beside the dag, and the compiler reads it. */
  ical: z.string().max(MAX_ICAL).optional(),
  /** What the days of the iCal file mean. */
  icalDays: z.enum(['exclude', 'only']).optional(),
});

export const scheduleObject = z.strictObject({
  /** 5 to 7 fields. Only its length is checked here: the server knows the grammar. */
  cron: z
    .union(
      [cronSchema, z.array(cronSchema).min(1).max(MAX_CRONS)],
      'must be a cron expression of at most 200 characters, or a list of at most 20',
    )
    .optional(),
  every: spanSchema({ minMs: 1_000, maxMs: 3_660 * DAY_MS, example: '"15m" or "1d"' }).optional(),
  anchor: pointSchema.optional(),
  phase: spanSchema({ minMs: 0, maxMs: 3_660 * DAY_MS, example: '"5m"' }).optional(),
  at: z
    .union(
      [pointSchema, z.array(pointSchema).min(1).max(MAX_TIMES)],
      'must be a time such as "2027-01-01T09:00:00Z", or a list of at most 1,000',
    )
    .optional(),
  zone: z.string().min(1).max(100).default('UTC'),
  gap: z.enum(['skip', 'fire_after']).default('fire_after'),
  overlap: z.enum(['first', 'second', 'both']).default('first'),
  start: pointSchema.optional(),
  end: pointSchema.optional(),
  limit: z.int().min(1).max(1_000_000_000).optional(),
  calendar: calendarSchema.optional(),
  jitter: spanSchema({ minMs: 0, maxMs: DAY_MS, example: '"30s" or "5m"' }).optional(),
  ...schedulePolicyFields,
});

export type ParsedSchedule = z.output<typeof scheduleObject>;
type Written = z.input<typeof scheduleObject>;
type Kind = 'cron' | 'every' | 'anchor' | 'phase' | 'at';
type Without<Key extends Kind> = { readonly [Each in Key]?: never };

/** What a user may write: exactly one of `cron`, `every` and `at`. */
export type ScheduleInput = Omit<Written, Kind> &
  (
    | (Required<Pick<Written, 'cron'>> & Without<'every' | 'anchor' | 'phase' | 'at'>)
    | (Required<Pick<Written, 'every'>> & Pick<Written, 'anchor' | 'phase'> & Without<'cron' | 'at'>)
    | (Required<Pick<Written, 'at'>> & Without<'cron' | 'every' | 'anchor' | 'phase'>)
  );

export const scheduleSchema = scheduleObject.superRefine(checkSchedule) as unknown as z.ZodType<
  ParsedSchedule,
  ScheduleInput
>;

/** A schedule that is created by a request may also say `after` which delay it fires, once: see `resolveAfter`. */
export const newScheduleObject = scheduleObject.extend({
  after: spanSchema({ minMs: 0, maxMs: 3_660 * DAY_MS, example: '"10m"' }).optional(),
});
export type ParsedNewSchedule = z.output<typeof newScheduleObject>;
export type NewScheduleInput = ScheduleInput | (Omit<Written, Kind> & { readonly after: string } & Without<Kind>);

export const newScheduleSchema = newScheduleObject.superRefine(checkSchedule) as unknown as z.ZodType<
  ParsedNewSchedule,
  NewScheduleInput
>;

/** A delay becomes the instant that it ends at, counted from when the request is served. */
export function resolveAfter(schedule: ParsedNewSchedule, nowMs: number): ParsedSchedule {
  const { after } = schedule;
  return after === undefined ? schedule : { ...schedule, at: nowMs + after };
}

export function checkSchedule(schedule: ParsedNewSchedule, context: z.RefinementCtx): void {
  const kinds = (['cron', 'every', 'at', 'after'] as const).filter((kind) => schedule[kind] !== undefined);
  const report = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
  if (kinds.length === 0) report([], 'must have one of cron, every and at');
  if (kinds.length > 1) report([kinds[1] ?? ''], `must not be given with ${kinds[0]}: write two schedules`);
  checkPolicies(schedule, report);
  const { ical } = schedule.calendar ?? {};
  if (ical === undefined) {
    if (schedule.calendar?.icalDays !== undefined) report(['calendar', 'icalDays'], 'must not be given without ical');
    return;
  }
  if (!isIcal(ical)) {
    const place = ['calendar', 'ical'];
    report(place, 'must be the text of an iCal file: deploy the folder with "signalbox deploy", which reads the file');
    return;
  }
  const read = daysOfIcal(ical, schedule.zone);
  if (!read.ok) report(['calendar', 'ical'], `line ${read.line}: ${read.message}. ${read.remedy}`);
}

export interface CalendarSpecShape {
  readonly weekdays?: readonly (typeof WEEKDAYS)[number][];
  readonly exclude?: readonly string[];
  readonly only?: readonly string[];
  readonly excludeDays?: readonly DayRuleShape[];
  readonly onlyDays?: readonly DayRuleShape[];
}

/** Instants in milliseconds, or local times as text. */
export type TimePointShape = number | string;

/** When a schedule fires, as the engine has it. */
export interface TimetableSpecShape {
  readonly cron?: string | readonly string[];
  readonly everyMs?: number;
  readonly anchor?: TimePointShape;
  readonly phaseMs?: number;
  readonly at?: readonly TimePointShape[];
  readonly zone: string;
  readonly gap: 'skip' | 'fire_after';
  readonly overlap?: 'first' | 'second' | 'both';
  readonly start?: TimePointShape;
  readonly end?: TimePointShape;
  readonly limit?: number;
  readonly calendar?: CalendarSpecShape;
  readonly jitterMs?: number;
}

export interface ScheduleSpecShape extends TimetableSpecShape, RequiresShape {
  readonly missed: 'skip' | 'most_recent' | 'catchup';
  readonly missedLimit: number;
  readonly missedMaxAgeMs?: number;
  readonly startWithinMs?: number;
  readonly ifRunning?: (typeof IF_RUNNING)[number];
  readonly runNow?: true;
  /** JSON text. */
  readonly params?: string;
  readonly priority?: Priority;
}

/** `params`: JSON text. Written out field by field: an import of many thousands spent a third of its time in copies of copies. */
export function toScheduleSpec(schedule: ParsedSchedule, params: string | null = null): ScheduleSpecShape {
  const { cron, every, anchor, phase, at, zone, gap, overlap, start, end, limit, calendar, jitter } = schedule;
  const { missed, missedLimit, missedMaxAge, startWithin, ifRunning, runNow, priority } = schedule;
  const spec: Writable<ScheduleSpecShape> = { zone, gap, overlap, missed, missedLimit };
  if (missedMaxAge !== undefined) spec.missedMaxAgeMs = missedMaxAge;
  if (startWithin !== undefined) spec.startWithinMs = startWithin;
  if (ifRunning !== undefined && ifRunning !== 'allow') spec.ifRunning = ifRunning;
  if (runNow === true) spec.runNow = runNow;
  if (params !== null) spec.params = params;
  if (priority !== undefined) spec.priority = priority;
  if (schedule.requires !== undefined) Object.assign(spec, requiresSpec(schedule));
  if (cron !== undefined) spec.cron = cron;
  if (every !== undefined) spec.everyMs = every;
  if (anchor !== undefined) spec.anchor = anchor;
  if (phase !== undefined) spec.phaseMs = phase;
  if (at !== undefined) spec.at = [at].flat();
  if (start !== undefined) spec.start = start;
  if (end !== undefined) spec.end = end;
  if (limit !== undefined) spec.limit = limit;
  if (calendar !== undefined) spec.calendar = calendarSpec(calendar, zone);
  if (jitter !== undefined) spec.jitterMs = jitter;
  return spec;
}

type Writable<Shape> = { -readonly [Key in keyof Shape]: Shape[Key] };

function calendarSpec(
  { ical, icalDays, ...calendar }: z.output<typeof calendarSchema>,
  zone: string,
): CalendarSpecShape {
  const { weekdays, exclude, only } = calendar;
  const read = ical === undefined ? null : daysOfIcal(ical, zone);
  const days = read?.ok === true ? read.days : null;
  return {
    ...(weekdays === undefined ? {} : { weekdays }),
    ...(exclude === undefined ? {} : { exclude }),
    ...(only === undefined ? {} : { only }),
    ...(days === null ? {} : icalDays === 'only' ? { onlyDays: days } : { excludeDays: days }),
  };
}
