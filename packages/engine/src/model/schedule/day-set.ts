/** A set of days: single ones, ranges, days of every year, and days that come again by a rule. */
import { civilFromDayNo, dayNoFromCivil, daysInMonth } from './civil.ts';
import { compileDayRule, type DayRow } from './day-rule.ts';
import { parseDate } from './local-time.ts';
import type { DayRule } from './schedule-spec.ts';

const DATES_LIMIT = 2_000;
const RANGE_LIMIT = 3_660;
const RULES_LIMIT = 2_000;
/** Each costs a few microseconds for each year that is looked at, and the search for a window may look at forty (I9). */
const REPEATS_LIMIT = 50;
const YEARS_KEPT = 50;

export class DaySet {
  private readonly days: ReadonlySet<number>;
  /** In order; only of use while there is nothing but single days. */
  private readonly sorted: readonly number[] | null;
  /** Month × 100 + day. */
  private readonly yearly: ReadonlySet<number>;
  private readonly rows: readonly DayRow[];
  /** What `rows` give for a year: a memory of answers, which alters none of them. */
  private readonly years = new Map<number, ReadonlySet<number>>();

  constructor(days: ReadonlySet<number>, yearly: ReadonlySet<number>, rows: readonly DayRow[]) {
    this.days = days;
    this.yearly = yearly;
    this.rows = rows;
    this.sorted = yearly.size === 0 && rows.length === 0 ? [...days].sort((a, b) => a - b) : null;
  }

  has(dayNo: number): boolean {
    if (this.days.has(dayNo)) return true;
    if (this.yearly.size === 0 && this.rows.length === 0) return false;
    const { year, month, day } = civilFromDayNo(dayNo);
    return this.yearly.has(month * 100 + day) || (this.rows.length > 0 && this.daysOf(year).has(dayNo));
  }

  /** A day at or after this one before which there is none; not always one of the set. Null when no day follows. */
  seek(dayNo: number): number | null {
    if (this.sorted === null) return dayNo;
    let [low, high] = [0, this.sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.sorted[middle] ?? 0) < dayNo) low = middle + 1;
      else high = middle;
    }
    return this.sorted[low] ?? null;
  }

  private daysOf(year: number): ReadonlySet<number> {
    const known = this.years.get(year);
    if (known !== undefined) return known;
    const found = new Set<number>();
    const firstDay = dayNoFromCivil({ year, month: 1, day: 1 });
    const lastDay = dayNoFromCivil({ year, month: 12, day: 31 });
    for (const row of this.rows) {
      const last = Math.min(row.until, lastDay);
      for (let begin = Math.max(row.from, firstDay - row.days + 1); begin <= last; begin += 1) {
        if (!row.begins(begin)) continue;
        for (let day = begin; day < begin + row.days; day += 1) found.add(day);
      }
    }
    if (this.years.size >= YEARS_KEPT) this.years.clear();
    this.years.set(year, found);
    return found;
  }
}

interface DayFault {
  /** Which entry of the list; undefined when it is about all of it. */
  readonly index?: number;
  readonly message: string;
}

export function compileDays(dates: readonly string[], rules: readonly DayRule[]): DaySet | DayFault {
  if (dates.length > DATES_LIMIT) return { message: `has ${dates.length} entries; ${DATES_LIMIT} are allowed` };
  if (rules.length > RULES_LIMIT) return { message: `has ${rules.length} events; ${RULES_LIMIT} are allowed` };
  const repeats = rules.filter(({ repeat }) => repeat !== undefined).length;
  if (repeats > REPEATS_LIMIT) return { message: `has ${repeats} events that repeat; ${REPEATS_LIMIT} are allowed` };
  const [days, yearly] = [new Set<number>(), new Set<number>()];
  for (const [index, text] of dates.entries()) {
    const message = addDate(text, days, yearly);
    if (message !== undefined) return { index, message };
  }
  const rows: DayRow[] = [];
  for (const [index, rule] of rules.entries()) {
    const row = compileDayRule(rule);
    if (typeof row === 'string') return { index, message: row };
    if (rule.repeat === undefined && row.begins(row.from)) {
      for (let day = row.from; day < row.from + row.days; day += 1) days.add(day);
    } else if (rule.repeat !== undefined) rows.push(row);
  }
  return new DaySet(days, yearly, rows);
}

function addDate(text: string, days: Set<number>, yearly: Set<number>): string | undefined {
  const everyYear = /^(\d\d)-(\d\d)$/.exec(text);
  if (everyYear !== null) {
    const [month, day] = [Number(everyYear[1]), Number(everyYear[2])];
    if (month < 1 || month > 12 || day < 1 || day > daysInMonth(2000, month)) return `${text} is not a day of the year`;
    yearly.add(month * 100 + day);
    return undefined;
  }
  const slash = text.indexOf('/');
  const first = parseDate(slash < 0 ? text : text.slice(0, slash));
  const last = slash < 0 ? first : parseDate(text.slice(slash + 1));
  if (first === undefined || last === undefined) {
    return `${JSON.stringify(text)} is not a day; write 2027-12-25, 2027-12-24/2028-01-01, or 12-25 for every year`;
  }
  if (last < first) return `${text} ends before it begins`;
  if (last - first >= RANGE_LIMIT) return `${text} has ${last - first + 1} days; ${RANGE_LIMIT} are allowed`;
  for (let day = first; day <= last; day += 1) days.add(day);
  return undefined;
}
