/**
 * When a dag runs by itself, as it is stored. The shape is flat and grows by optional fields only: specs of every earlier
 * version stay readable. Exactly one of `cron`, `everyMs` and `at` is present; `compileTimetable` checks that.
 */
import type { Actor, Instant, RunUid } from '../ids.ts';
import type { SchedulePolicy } from './schedule-policy.ts';

/** An instant, or what a clock in the schedule's zone shows: `2027-01-01T09:00:00`. */
export type TimePoint = Instant | string;

export const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] as const;
type Weekday = (typeof WEEKDAYS)[number];

/** When a schedule fires. What happens to windows that are missed is not part of this. */
export interface TimetableSpec {
  /** One expression, or several: the schedule fires whenever one of them does, once per instant. */
  readonly cron?: string | readonly string[];
  /** Fires at `anchor + phaseMs + n × everyMs` for every whole n. */
  readonly everyMs?: number;
  /** The epoch unless told. */
  readonly anchor?: TimePoint;
  readonly phaseMs?: number;
  readonly at?: readonly TimePoint[];
  readonly zone: string;
  /** What happens to a wall time that a clock change removes (I3). */
  readonly gap: 'skip' | 'fire_after';
  /** Which of two fires when a clock change makes a wall time occur twice; `first` unless told. */
  readonly overlap?: 'first' | 'second' | 'both';
  /** No window before this. */
  readonly start?: TimePoint;
  /** No window after this; one at this very instant fires. */
  readonly end?: TimePoint;
  /** How many times it fires in all. */
  readonly limit?: number;
  readonly calendar?: CalendarSpec;
  /** Each window fires late by less than this. 0: not even by the default of the cluster. */
  readonly jitterMs?: number;
}

export interface ScheduleSpec extends TimetableSpec, SchedulePolicy {
  /** It is a delayed run: the run that it becomes, and who asked for it. See `decide/schedule/delayed-run.ts`. */
  readonly run?: { readonly uid: RunUid; readonly actor: Actor; readonly until?: string };
}

/** One of several schedules of a dag. */
export interface NamedSchedule {
  readonly name: string;
  readonly spec: ScheduleSpec;
}

/** Days on which a schedule may fire, by the date that its zone shows. A day must pass everything that is given. */
export interface CalendarSpec {
  readonly weekdays?: readonly Weekday[];
  /** `2027-12-25`, `2027-12-24/2028-01-01` (both included), or `12-25` for every year. */
  readonly exclude?: readonly string[];
  readonly only?: readonly string[];
  /** Days of an iCal file, reduced to what decides about days. */
  readonly excludeDays?: readonly DayRule[];
  readonly onlyDays?: readonly DayRule[];
}

/** A day or a row of days that may come again, by the rules of iCal (RFC 5545). */
export interface DayRule {
  /** The first day: `2027-12-25`. It counts even if `repeat` does not match it. */
  readonly from: string;
  /** How many days one occurrence has; 1 unless told. */
  readonly days?: number;
  readonly repeat?: DayRepeat;
  /** First days of occurrences that are left out. */
  readonly except?: readonly string[];
}

export interface DayRepeat {
  readonly freq: 'daily' | 'weekly' | 'monthly' | 'yearly';
  readonly interval?: number;
  readonly count?: number;
  /** The last day on which an occurrence may begin. */
  readonly until?: string;
  /** `MO`, or `4TH` and `-1FR`: the fourth Thursday and the last Friday of the month. */
  readonly byDay?: readonly string[];
  readonly byMonth?: readonly number[];
  /** From 1; from -1 backwards. */
  readonly byMonthDay?: readonly number[];
}
