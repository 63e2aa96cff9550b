/** What a schedule was set to, in answers: when it fires in the words of the engine, times as text. */
import { z } from 'zod';
import { prioritySchema } from './common.ts';
import { UNMET } from './requires-fields.ts';
import { IF_RUNNING } from './schedule-policy-fields.ts';

const dayRule = z.object({
  from: z.string(),
  days: z.int().optional(),
  repeat: z.looseObject({ freq: z.string() }).optional(),
  except: z.array(z.string()).readonly().optional(),
});

export const scheduleSettingsSchema = z.object({
  /** When it fires, in a few words: `0 7 * * *`, `every 15m`, `at 2027-01-01T09:00:00Z`. */
  fires: z.string(),
  /** Present for a cron schedule: the expression, or all of them. */
  cron: z.union([z.string(), z.array(z.string())]).optional(),
  /** Present for an interval. */
  everyMs: z.int().optional(),
  anchor: z.string().optional(),
  phaseMs: z.int().optional(),
  /** Present for a schedule with given times. Those without an offset are times in the zone. */
  at: z.array(z.string()).optional(),
  zone: z.string(),
  gap: z.enum(['skip', 'fire_after']),
  overlap: z.enum(['first', 'second', 'both']),
  start: z.string().optional(),
  end: z.string().optional(),
  limit: z.int().optional(),
  calendar: z
    .object({
      weekdays: z.array(z.string()).readonly().optional(),
      exclude: z.array(z.string()).readonly().optional(),
      only: z.array(z.string()).readonly().optional(),
      excludeDays: z.array(dayRule).readonly().optional(),
      onlyDays: z.array(dayRule).readonly().optional(),
    })
    .optional(),
  jitterMs: z.int().optional(),
  missed: z.enum(['skip', 'most_recent', 'catchup']),
  missedLimit: z.int(),
  missedMaxAgeMs: z.int().optional(),
  startWithinMs: z.int().optional(),
  ifRunning: z.enum(IF_RUNNING),
  runNow: z.boolean().optional(),
  /** Of its runs, where they are not the defaults of the dag. */
  params: z.record(z.string(), z.unknown()).optional(),
  priority: prioritySchema.optional(),
  /** What its windows require of other dags. */
  requires: z
    .array(z.object({ dag: z.string(), withinMs: z.int().optional(), window: z.literal('same').optional() }))
    .readonly()
    .optional(),
  unmet: z.enum(UNMET).optional(),
  waitMs: z.int().optional(),
  /** With `retry`: from one look to the next. */
  lookMs: z.int().optional(),
});
export type ScheduleSettings = z.infer<typeof scheduleSettingsSchema>;
