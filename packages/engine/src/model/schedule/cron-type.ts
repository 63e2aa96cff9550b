/** A parsed cron expression, and the problem with one that can't be parsed. */

/** Sets of sixty are two halves of thirty bits, which stay small integers. `days` and `months` start with bit 0 for 1. */
export interface Cron {
  readonly secondsLow: number;
  readonly secondsHigh: number;
  readonly minutesLow: number;
  readonly minutesHigh: number;
  readonly hours: number;
  readonly everyHour: boolean;
  readonly days: number;
  /** Bit n is the day n days before the last of the month: `L` sets bit 0, `L-3` bit 3. */
  readonly lastDays: number;
  /** `15W` sets the bit of the 15th: the working day nearest to it, within the month. */
  readonly nearDays: number;
  /** The same for `LW` and `L-3W`, counted as `lastDays` is. */
  readonly nearLastDays: number;
  readonly anyDay: boolean;
  readonly months: number;
  /** Bit 0 is Sunday, here and in the two that follow. */
  readonly weekdays: number;
  readonly lastWeekdays: number;
  /** `MON#2` sets the bit of Monday in the second entry. */
  readonly nthWeekdays: readonly number[];
  readonly anyWeekday: boolean;
  /** A day must match both day fields. False when either one is enough. */
  readonly bothDays: boolean;
  /** Null when every year matches. */
  readonly years: ReadonlySet<number> | null;
}

/** `at` is the column of the fault in the expression as given, the first being 1. */
export type CronProblem = {
  readonly field: string;
  readonly at: number;
  readonly message: string;
  readonly remedy: string;
};

/** `zone` is what `CRON_TZ=` names. */
export type ParsedCron = { ok: true; cron: Cron; zone?: string } | { ok: false; problem: CronProblem };
