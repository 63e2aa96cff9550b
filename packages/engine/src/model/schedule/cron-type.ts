/** A parsed cron expression, and what is wrong with one that can not be parsed. */

/** Sets of sixty are two halves of thirty bits, which stay small integers. `days` and `months` start with bit 0 for 1. */
export interface Cron {
  readonly secondsLow: number;
  readonly secondsHigh: number;
  readonly minutesLow: number;
  readonly minutesHigh: number;
  readonly hours: number;
  readonly everyHour: boolean;
  readonly days: number;
  readonly lastDay: boolean;
  readonly anyDay: boolean;
  readonly months: number;
  /** Bit 0 is Sunday, here and in the two that follow. */
  readonly weekdays: number;
  readonly lastWeekdays: number;
  /** `MON#2` sets the bit of Monday in the second entry. */
  readonly nthWeekdays: readonly number[];
  readonly anyWeekday: boolean;
}

/** `at` is the column of the fault in the expression as given, the first being 1. */
export type CronProblem = {
  readonly field: string;
  readonly at: number;
  readonly message: string;
  readonly remedy: string;
};

export type ParsedCron = { ok: true; cron: Cron } | { ok: false; problem: CronProblem };
