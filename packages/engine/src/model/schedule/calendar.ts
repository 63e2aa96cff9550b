/** On which days a schedule may fire, by the date that a clock in its zone shows. */
import { DAY_MS, weekdayOf } from './civil.ts';
import { compileDays, DaySet } from './day-set.ts';
import { type FaultOf, fault } from './fault.ts';
import { type CalendarSpec, WEEKDAYS } from './schedule-spec.ts';
import { offsetOf, segmentAt, startOf, type ZoneData } from './zone-segments.ts';

/** How far ahead the next open day is looked for. */
const SEARCH_DAYS = 40 * 366;
const ALL_WEEKDAYS = 0b111_1111;

export interface Calendar {
  /** Bit 0 is Sunday. */
  readonly weekdays: number;
  readonly excluded: DaySet;
  readonly only: DaySet | null;
}

export function compileCalendar(spec: CalendarSpec): Calendar | FaultOf {
  const { weekdays: names, exclude = [], excludeDays = [], only: onlyDates = [], onlyDays = [] } = spec;
  let weekdays = names === undefined ? ALL_WEEKDAYS : 0;
  for (const [index, name] of (names ?? []).entries()) {
    const weekday = WEEKDAYS.indexOf(name);
    const remedy = `Use ${WEEKDAYS.join(', ')}.`;
    if (weekday < 0)
      return fault(`calendar.weekdays[${index}]`, `${JSON.stringify(name)} is not a day of the week.`, remedy);
    weekdays |= 1 << weekday;
  }
  if (weekdays === 0) return fault('calendar.weekdays', 'The list of weekdays is empty.', 'Name a day, or remove it.');
  const excluded = compileDays(exclude, excludeDays);
  if (!(excluded instanceof DaySet)) return daysFault('exclude', exclude, excluded);
  if (spec.only === undefined && spec.onlyDays === undefined) return { weekdays, excluded, only: null };
  const only = compileDays(onlyDates, onlyDays);
  if (!(only instanceof DaySet)) return daysFault('only', onlyDates, only);
  return { weekdays, excluded, only };
}

function daysFault(
  field: 'exclude' | 'only',
  dates: readonly string[],
  { index, message }: { readonly index?: number; readonly message: string },
): FaultOf {
  const isDate = index !== undefined && index < dates.length;
  const place = isDate ? `calendar.${field}[${index}]` : dates.length > 0 ? `calendar.${field}` : 'calendar.ical';
  return fault(place, `The calendar cannot be used: ${message}.`, 'Correct this entry of the calendar.');
}

export function isOpen({ weekdays, excluded, only }: Calendar, dayNo: number): boolean {
  if (((weekdays >>> weekdayOf(dayNo)) & 1) === 0) return false;
  return !excluded.has(dayNo) && (only === null || only.has(dayNo));
}

/** The first open day at or after this one; null when there is none within forty years. */
function nextOpenDay(calendar: Calendar, dayNo: number): number | null {
  const first = calendar.only === null ? dayNo : calendar.only.seek(dayNo);
  if (first === null) return null;
  let day = first;
  while (day < first + SEARCH_DAYS) {
    if (isOpen(calendar, day)) return day;
    const next = calendar.only === null ? day + 1 : calendar.only.seek(day + 1);
    if (next === null) return null;
    day = next;
  }
  return null;
}

/**
 * The first instant at or after `atMs` whose date is open; null when there is none. `zoneFor` gives data that reaches as far
 * as it is asked to. Goes segment by segment: a clock that goes back at midnight shows the day before once more.
 */
export function openFrom(calendar: Calendar, atMs: number, zoneFor: (untilMs: number) => ZoneData): number | null {
  let zone = zoneFor(atMs);
  const wallMs = atMs + offsetOf(zone, segmentAt(zone, atMs));
  const today = Math.floor(wallMs / DAY_MS);
  const openDay = nextOpenDay(calendar, today);
  if (openDay === today) return atMs;
  // The clock may go back by a day at most, so that only the day before can come again.
  const mayReturn = isOpen(calendar, today - 1);
  if (openDay === null && !mayReturn) return null;
  const targetMs = openDay === null ? atMs : openDay * DAY_MS;
  zone = zoneFor(Math.max(targetMs, atMs) + 2 * DAY_MS);
  for (let segment = segmentAt(zone, atMs); segment <= zone.transitions.length; segment += 1) {
    const offsetMs = offsetOf(zone, segment);
    const fromMs = Math.max(atMs, startOf(zone, segment));
    const endMs = zone.transitions[segment]?.atMs ?? zone.untilMs;
    const fromWallMs = fromMs + offsetMs;
    const dayNo = Math.floor(fromWallMs / DAY_MS);
    if (dayNo < today && isOpen(calendar, dayNo)) return fromMs;
    if (openDay === null) continue;
    const openMs = Math.max(fromWallMs, targetMs) - offsetMs;
    if (openMs >= endMs) continue;
    // A clock that goes forward over the open day shows none of it.
    if (dayNo <= openDay) return openMs;
    return openFrom(calendar, fromMs, zoneFor);
  }
  return null;
}
