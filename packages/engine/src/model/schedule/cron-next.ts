/**
 * The next wall time that matches a cron expression. A wall time is what a clock on the wall shows, in milliseconds as if it
 * were UTC. There are no zones here, every day has 24 hours, and only months differ in length.
 */
import { civilFromDayNo, daysInMonth, weekdayOf } from './civil.ts';
import type { Cron } from './cron-type.ts';

/**
 * The rarest thing an expression can ask for is 29 February on a given weekday (`0 0 * 2 MON#5`). It comes back after 28
 * years, or 40 across a year such as 2100 that is not a leap year; over the 400 years of the calendar no pause is longer.
 * Twice that and some more also covers a firing that a clock change removes; what does not fire by then never does (I9).
 */
export const horizonYears = 100;
const monthsLimit = horizonYears * 12 + 1;

const daySeconds = 86_400;
const everySeventhDay = 0b1_0000001_0000001_0000001_0000001;

/** The first matching wall time at or after `fromWallMs`; undefined when none lies within the horizon. */
export function nextWall(cron: Cron, fromWallMs: number): number | undefined {
  const fromSecond = Math.ceil(fromWallMs / 1000);
  const dayNo = Math.floor(fromSecond / daySeconds);
  const date = civilFromDayNo(dayNo);
  let { year, month } = date;
  let firstDayNo = dayNo - date.day + 1;
  let days = matchingDays(cron, year, month, firstDayNo);
  if ((days >>> (date.day - 1)) & 1) {
    const second = nextSecondOfDay(cron, fromSecond - dayNo * daySeconds);
    if (second >= 0) return (dayNo * daySeconds + second) * 1000;
  }
  days &= -1 << date.day; // for the 31st this shifts out all that can be set

  for (let count = 0; count < monthsLimit; count += 1) {
    if (days !== 0) return ((firstDayNo + lowestBit(days)) * daySeconds + nextSecondOfDay(cron, 0)) * 1000;
    firstDayNo += daysInMonth(year, month);
    month = month === 12 ? 1 : month + 1;
    if (month === 1) year += 1;
    days = matchingDays(cron, year, month, firstDayNo);
  }
  return undefined;
}

export function matchesWall(cron: Cron, wallMs: number): boolean {
  return nextWall(cron, wallMs) === wallMs;
}

/** The days of a month that match, bit 0 being the first. `firstDayNo` is the day number of that first day. */
function matchingDays(cron: Cron, year: number, month: number, firstDayNo: number): number {
  if (((cron.months >>> (month - 1)) & 1) === 0) return 0;
  if (cron.years !== null && !cron.years.has(year)) return 0;
  const length = daysInMonth(year, month);
  const all = 0x7fff_ffff >>> (31 - length);
  if (cron.anyDay && cron.anyWeekday) return all;
  const byDay = (cron.days & all) | daysOfMarks(cron, length, firstDayNo);
  if (cron.anyWeekday && cron.bothDays) return byDay;
  const byWeekday = daysOnWeekdays(cron, length, firstDayNo) & all;
  return cron.bothDays ? byDay & byWeekday : byDay | byWeekday;
}

/** Days that depend on the length of the month and on where its weekends are: `L`, `L-3`, `15W`, `LW`. */
function daysOfMarks({ lastDays, nearDays, nearLastDays }: Cron, length: number, firstDayNo: number): number {
  if ((lastDays | nearDays | nearLastDays) === 0) return 0;
  let days = 0;
  for (let index = 0; index < length; index += 1) {
    const fromEnd = length - 1 - index;
    if ((lastDays >>> fromEnd) & 1) days |= 1 << index;
    if ((nearDays >>> index) & 1 || (nearLastDays >>> fromEnd) & 1) days |= 1 << workdayNear(index, length, firstDayNo);
  }
  return days;
}

/** The working day, Monday to Friday, that is nearest to a day and in the same month. */
function workdayNear(index: number, length: number, firstDayNo: number): number {
  const weekday = weekdayOf(firstDayNo + index);
  if (weekday === 6) return index === 0 ? 2 : index - 1;
  if (weekday === 0) return index === length - 1 ? index - 2 : index + 1;
  return index;
}

function daysOnWeekdays(cron: Cron, length: number, firstDayNo: number): number {
  const firstWeekday = weekdayOf(firstDayNo);
  let days = 0;
  for (let index = 0; index < 7; index += 1) {
    const weekday = (firstWeekday + index) % 7;
    if ((cron.weekdays >>> weekday) & 1) days |= everySeventhDay << index;
    if ((cron.lastWeekdays >>> weekday) & 1) days |= 1 << (index + 7 * Math.floor((length - 1 - index) / 7));
    for (let nth = 0; nth < 5; nth += 1) {
      const day = index + 7 * nth;
      if (day < length && ((cron.nthWeekdays[nth] ?? 0) >>> weekday) & 1) days |= 1 << day;
    }
  }
  return days;
}

/** The first matching second of the day at or after `from`, or -1. */
function nextSecondOfDay(cron: Cron, from: number): number {
  const fromHour = Math.floor(from / 3600);
  const fromMinute = Math.floor(from / 60) % 60;
  if ((cron.hours >>> fromHour) & 1) {
    if (hasInSixty(cron.minutesLow, cron.minutesHigh, fromMinute)) {
      const second = nextInSixty(cron.secondsLow, cron.secondsHigh, from % 60);
      if (second >= 0) return from - (from % 60) + second;
    }
    const minute = nextInSixty(cron.minutesLow, cron.minutesHigh, fromMinute + 1);
    if (minute >= 0) return fromHour * 3600 + minute * 60 + nextInSixty(cron.secondsLow, cron.secondsHigh, 0);
  }
  const hours = cron.hours & (-1 << (fromHour + 1));
  if (hours === 0) return -1;
  const minute = nextInSixty(cron.minutesLow, cron.minutesHigh, 0);
  return lowestBit(hours) * 3600 + minute * 60 + nextInSixty(cron.secondsLow, cron.secondsHigh, 0);
}

function hasInSixty(low: number, high: number, value: number): boolean {
  return ((value < 30 ? low >>> value : high >>> (value - 30)) & 1) === 1;
}

function nextInSixty(low: number, high: number, from: number): number {
  if (from < 30) {
    const rest = low & (-1 << from);
    if (rest !== 0) return lowestBit(rest);
    return high === 0 ? -1 : 30 + lowestBit(high);
  }
  const rest = from < 60 ? high & (-1 << (from - 30)) : 0;
  return rest === 0 ? -1 : 30 + lowestBit(rest);
}

function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}
