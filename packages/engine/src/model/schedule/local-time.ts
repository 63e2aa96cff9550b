/** Wall times and dates as text. A wall time is what a clock on the wall shows, in milliseconds as if it were UTC. */
import { civilFromDayNo, DAY_MS, dayNoFromCivil, daysInMonth } from './civil.ts';

/** Schedules are about these years: what lies outside is a typing error. */
const FIRST_YEAR = 1970;
const LAST_YEAR = 2199;

/** `2027-01-01T09:00`, with seconds and milliseconds if need be. Undefined for what is no such time. */
export function parseLocalTime(text: string): number | undefined {
  const found = /^(\d{4}-\d\d-\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?$/.exec(text);
  if (found === null) return undefined;
  const [, date = '', hour, minute, second = '0', fraction = ''] = found;
  const dayNo = parseDate(date);
  if (dayNo === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const seconds = (Number(hour) * 60 + Number(minute)) * 60 + Number(second);
  return dayNo * DAY_MS + seconds * 1000 + Number(fraction.padEnd(3, '0'));
}

/** The number of the day `2027-12-25`. Undefined for what is no day. */
export function parseDate(text: string): number | undefined {
  const found = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (found === null) return undefined;
  const [year, month, day] = [Number(found[1]), Number(found[2]), Number(found[3])];
  if (year < FIRST_YEAR || year > LAST_YEAR || month < 1 || month > 12) return undefined;
  if (day < 1 || day > daysInMonth(year, month)) return undefined;
  return dayNoFromCivil({ year, month, day });
}

/** `2018-11-04` */
export function formatDate(dayNo: number): string {
  const { year, month, day } = civilFromDayNo(dayNo);
  return `${String(year).padStart(4, '0')}-${twoDigits(month)}-${twoDigits(day)}`;
}

/** `2018-11-04T00:30:00`, with milliseconds where there are some. */
export function formatWall(wallMs: number): string {
  const dayNo = Math.floor(wallMs / DAY_MS);
  const ms = wallMs - dayNo * DAY_MS;
  const second = Math.floor(ms / 1000);
  const time = [Math.floor(second / 3600), Math.floor(second / 60) % 60, second % 60].map(twoDigits).join(':');
  const fraction = ms % 1000 === 0 ? '' : `.${String(ms % 1000).padStart(3, '0')}`;
  return `${formatDate(dayNo)}T${time}${fraction}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
