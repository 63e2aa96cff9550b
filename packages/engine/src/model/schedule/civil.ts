/** Dates by number: day 0 is 1970-01-01. The calendar is the Gregorian one, before its introduction too. */

export const DAY_MS = 86_400_000;

export interface Civil {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  readonly day: number;
}

/**
 * Years are counted from 1 March, so that the leap day comes last and month lengths follow one formula; 719,468 days lie
 * between 1 March of the year 0 and 1 January 1970, and 146,097 in each 400 years.
 */
export function civilFromDayNo(dayNo: number): Civil {
  const shifted = dayNo + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  return { year: era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, day };
}

export function dayNoFromCivil({ year, month, day }: Civil): number {
  const shiftedYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(shiftedYear / 400);
  const yearOfEra = shiftedYear - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

export function daysInMonth(year: number, month: number): number {
  if (month !== 2) return 30 + ((month + (month >> 3)) & 1);
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

/** Sunday is 0. Day 0 was a Thursday. */
export function weekdayOf(dayNo: number): number {
  return modulo(dayNo + 4, 7);
}

export function modulo(value: number, by: number): number {
  return value - by * Math.floor(value / by);
}
