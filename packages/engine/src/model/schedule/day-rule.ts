/**
 * Days that come again, by the rules of iCal: the fourth Thursday of November, every second week, the last day of the month.
 * A rule is compiled once, and then answers for any day whether an occurrence begins on it, from that day alone.
 */
import { type Civil, civilFromDayNo, daysInMonth, modulo, weekdayOf } from './civil.ts';
import { parseDate } from './local-time.ts';
import type { DayRepeat, DayRule } from './schedule-spec.ts';

const ICAL_DAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];
const DAYS_LIMIT = 366;
const INTERVAL_LIMIT = 1_000;
const COUNT_LIMIT = 1_000;
/** An occurrence that `count` allows later than this is too far away to matter. */
const COUNT_DAYS = 100 * 366;

export interface DayRow {
  readonly from: number;
  /** The last day on which an occurrence may begin. */
  readonly until: number;
  /** How many days one occurrence has. */
  readonly days: number;
  begins(dayNo: number): boolean;
}

/** A text where it cannot be used: what is wrong, for the message of a fault. */
export function compileDayRule({ from, days = 1, repeat, except = [] }: DayRule): DayRow | string {
  const first = parseDate(from);
  if (first === undefined) return `${JSON.stringify(from)} is not a day`;
  if (!isCount(days, DAYS_LIMIT)) return `an event has ${days} days; 1 to ${DAYS_LIMIT} are possible`;
  const left = new Set<number>();
  for (const text of except) {
    const dayNo = parseDate(text);
    if (dayNo === undefined) return `${JSON.stringify(text)} is not a day`;
    left.add(dayNo);
  }
  const begins = repeat === undefined ? () => false : compileRepeat(repeat, first);
  if (typeof begins === 'string') return begins;
  const until = repeat === undefined ? first : lastOf(repeat, first, begins);
  if (typeof until === 'string') return until;
  return {
    from: first,
    until,
    days,
    begins: (dayNo) => dayNo >= first && dayNo <= until && (dayNo === first || begins(dayNo)) && !left.has(dayNo),
  };
}

type Begins = (dayNo: number) => boolean;

function compileRepeat(repeat: DayRepeat, first: number): Begins | string {
  const { freq, interval = 1, byMonth, byMonthDay } = repeat;
  if (!isCount(interval, INTERVAL_LIMIT)) return `INTERVAL is ${interval}; 1 to ${INTERVAL_LIMIT} are possible`;
  if (byMonth?.some((month) => !isCount(month, 12))) return 'BYMONTH has a value other than 1 to 12';
  if (byMonthDay?.some((day) => !isCount(Math.abs(day), 31))) return 'BYMONTHDAY has a value other than ±1 to ±31';
  const byDay = compileByDay(repeat);
  if (typeof byDay === 'string') return byDay;
  const start = civilFromDayNo(first);
  const inMonth = (date: Civil) => byMonth === undefined || byMonth.includes(date.month);
  const onDay = (date: Civil) => byMonthDay === undefined || byMonthDay.some((day) => isMonthDay(date, day));
  if (freq === 'daily') {
    return (dayNo) => modulo(dayNo - first, interval) === 0 && passes(dayNo, byDay, inMonth, onDay);
  }
  if (freq === 'weekly') {
    const monday = first - modulo(weekdayOf(first) - 1, 7);
    const weekday = weekdayOf(first);
    return (dayNo) =>
      modulo(Math.floor((dayNo - monday) / 7), interval) === 0 &&
      (byDay !== null || weekdayOf(dayNo) === weekday) &&
      passes(dayNo, byDay, inMonth, onDay);
  }
  const byStart = byDay === null && byMonthDay === undefined;
  const onStart = (date: Civil) => !byStart || date.day === start.day;
  if (freq === 'monthly') {
    return (dayNo) => {
      const date = civilFromDayNo(dayNo);
      const months = (date.year - start.year) * 12 + date.month - start.month;
      return modulo(months, interval) === 0 && onStart(date) && passes(dayNo, byDay, inMonth, onDay);
    };
  }
  return (dayNo) => {
    const date = civilFromDayNo(dayNo);
    if (modulo(date.year - start.year, interval) !== 0 || !onStart(date)) return false;
    if (byStart && byMonth === undefined && date.month !== start.month) return false;
    return passes(dayNo, byDay, inMonth, onDay);
  };
}

function passes(
  dayNo: number,
  byDay: readonly WeekdayOfMonth[] | null,
  inMonth: (date: Civil) => boolean,
  onDay: (date: Civil) => boolean,
): boolean {
  if (byDay !== null && !byDay.some(({ weekday }) => weekday === weekdayOf(dayNo))) return false;
  const date = civilFromDayNo(dayNo);
  if (!inMonth(date) || !onDay(date)) return false;
  return byDay === null || byDay.some((day) => isWeekdayOfMonth(day, dayNo, date));
}

interface WeekdayOfMonth {
  readonly weekday: number;
  /** 0: each of the month; 4: the fourth; -1: the last. */
  readonly nth: number;
}

function compileByDay({ freq, byDay, byMonth }: DayRepeat): readonly WeekdayOfMonth[] | string | null {
  if (byDay === undefined) return null;
  const found: WeekdayOfMonth[] = [];
  for (const text of byDay) {
    const [, nth = '', name = ''] = /^([+-]?[1-5])?([A-Z]{2})$/.exec(text) ?? [];
    const weekday = ICAL_DAYS.indexOf(name);
    if (weekday < 0) return `BYDAY has ${JSON.stringify(text)}; write MO, or 4TH for the fourth Thursday`;
    if (nth !== '' && freq !== 'monthly' && !(freq === 'yearly' && byMonth !== undefined)) {
      return `BYDAY has ${text}, and no month to count in; add BYMONTH, or leave out the number`;
    }
    found.push({ weekday, nth: Number(nth) });
  }
  return found;
}

function isWeekdayOfMonth({ weekday, nth }: WeekdayOfMonth, dayNo: number, { year, month, day }: Civil): boolean {
  if (weekdayOf(dayNo) !== weekday) return false;
  if (nth === 0) return true;
  return nth > 0
    ? Math.floor((day - 1) / 7) === nth - 1
    : Math.floor((daysInMonth(year, month) - day) / 7) === -nth - 1;
}

function isMonthDay({ year, month, day }: Civil, wanted: number): boolean {
  return wanted > 0 ? day === wanted : day === daysInMonth(year, month) + 1 + wanted;
}

/** The last day on which an occurrence may begin. */
function lastOf({ count, until }: DayRepeat, first: number, begins: Begins): number | string {
  if (until !== undefined) return parseDate(until) ?? `UNTIL is ${JSON.stringify(until)}, which is not a day`;
  if (count === undefined) return Number.POSITIVE_INFINITY;
  if (!isCount(count, COUNT_LIMIT)) return `COUNT is ${count}; 1 to ${COUNT_LIMIT} are possible`;
  let left = count - 1; // the first day counts
  let last = first;
  for (let dayNo = first + 1; left > 0 && dayNo < first + COUNT_DAYS; dayNo += 1) {
    if (!begins(dayNo)) continue;
    left -= 1;
    last = dayNo;
  }
  return last;
}

function isCount(value: number, most: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= most;
}
