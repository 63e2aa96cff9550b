/**
 * The next firings of a schedule, for people: when, what the clock on the wall shows, and a note where a clock change, the
 * calendar or jitter has a hand in it. Nothing is decided by this; the firings come from the function that decides.
 */
import { assert } from '../assert.ts';
import type { Instant } from '../ids.ts';
import { DAY_MS } from './civil.ts';
import { formatDate, formatWall } from './local-time.ts';
import { removedBetween } from './removed.ts';
import { type ScheduleFault, scheduleFault } from './schedule-fault.ts';
import { compileTimetable, type Timetable, type TimetableSpec } from './timetable.ts';
import { type Window, type WindowOptions, windowAfter } from './window-after.ts';
import { endOf, offsetOf, reachMs, readingAt, segmentAt, shows, startOf, type ZoneData } from './zone-segments.ts';
import type { ZoneSource } from './zone-source.ts';

export interface Firing {
  /** The nominal time: the logical time of the run. */
  readonly at: Instant;
  /** When the run is created: `at`, or later by jitter. */
  readonly firesAt: Instant;
  /** `at` with its offset: `2027-03-14T03:00:00-04:00`. */
  readonly local: string;
  readonly note: string | null;
}

export type SchedulePreview =
  | { readonly ok: true; readonly zone: string; readonly firings: readonly Firing[] }
  | { readonly ok: false; readonly fault: ScheduleFault };

/** Of a schedule that no dag has yet. `H` and jitter follow from the id that a server gives a dag, so they may differ there. */
export function previewSchedule(
  spec: TimetableSpec,
  from: Instant,
  count: number,
  zoneData: ZoneSource,
  options: WindowOptions = {},
): SchedulePreview {
  const fault = scheduleFault(spec, from, zoneData);
  if (fault !== null) return { ok: false, fault };
  const compiled = compileTimetable(spec, '');
  assert(compiled.ok, 'a schedule without a fault compiles');
  const { timetable } = compiled;
  return { ok: true, zone: timetable.zone, firings: previewFirings(timetable, from, count, zoneData, options) };
}

/** Strictly after `from`; fewer than `count` when it does not fire so often. */
export function previewFirings(
  timetable: Timetable,
  from: Instant,
  count: number,
  zoneData: ZoneSource,
  options: WindowOptions = {},
): Firing[] {
  const firings: Firing[] = [];
  let before = from;
  while (firings.length < count) {
    const firedSoFar = (options.firedSoFar ?? 0) + firings.length;
    const window = windowAfter(timetable, before, zoneData, { ...options, firedSoFar });
    if (window === null) break;
    const zone = zoneData(timetable.zone, before, (window.at + 2 * reachMs) as Instant);
    const note = noteOf(timetable, zone, before, window, zoneData);
    firings.push({ ...window, local: localTime(zone, window.at), note });
    before = window.at;
  }
  return firings;
}

/** What a clock in the zone shows, with its offset from UTC. */
export function localTime(zone: ZoneData, atMs: number): string {
  const offsetMs = offsetOf(zone, segmentAt(zone, atMs));
  const minutes = Math.round(Math.abs(offsetMs) / 60_000);
  const offset = `${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
  return `${formatWall(atMs + offsetMs)}${offsetMs < 0 ? '-' : '+'}${offset}`;
}

function noteOf(
  timetable: Timetable,
  zone: ZoneData,
  before: Instant,
  { at, firesAt }: Window,
  zoneData: ZoneSource,
): string | null {
  const notes = [
    gapNote(timetable, zone, before, at, zoneData),
    overlapNote(zone, at),
    calendarNote(timetable, zone, before, at, zoneData),
    firesAt === at ? null : `Jitter: fires ${(firesAt - at) / 1000} s later.`,
  ].filter((note) => note !== null);
  return notes.length === 0 ? null : notes.join(' ');
}

/** About wall times since the firing before that do not exist. */
function gapNote(
  timetable: Timetable,
  zone: ZoneData,
  before: Instant,
  at: Instant,
  zoneData: ZoneSource,
): string | null {
  const removed = removedBetween(timetable, before, at, zoneData);
  const first = removed[0];
  if (first === undefined) return null;
  const { gapAtMs, wallTime } = first;
  const more = removed.length === 1 ? '' : ` (and ${removed.length - 1} more)`;
  const [day, time] = [wallTime.slice(0, 10), shortTime(wallTime)];
  const doesNotExist = `${time}${more} does not exist on ${day}: the clock goes from ${clockChange(zone, gapAtMs)}.`;
  if (timetable.changes.gap === 'skip') return `Skipped: ${doesNotExist}`;
  return gapAtMs === at ? `${doesNotExist} It fires when the gap ends.` : null;
}

/** About the days since the firing before on which it would have fired without the calendar. */
function calendarNote(
  timetable: Timetable,
  zone: ZoneData,
  before: Instant,
  at: Instant,
  zoneData: ZoneSource,
): string | null {
  if (timetable.calendar === null) return null;
  const open = { ...timetable, calendar: null, limit: null, jitterMs: 0 };
  const days: number[] = [];
  let after: number = before;
  while (days.length <= DAYS_NOTED) {
    const excluded = windowAfter(open, after as Instant, zoneData);
    if (excluded === null || excluded.at >= at) break;
    const dayNo = Math.floor(readingAt(zone, excluded.at) / DAY_MS);
    if (days.at(-1) !== dayNo) days.push(dayNo);
    // The rest of the day is excluded, too.
    after = Math.max(excluded.at, (dayNo + 1) * DAY_MS - offsetOf(zone, segmentAt(zone, excluded.at)) - 1);
  }
  if (days.length === 0) return null;
  const shown = days.slice(0, DAYS_NOTED).map(formatDate).join(', ');
  return `The calendar excludes ${shown}${days.length > DAYS_NOTED ? ' and more days' : ''}.`;
}

/** So many excluded days are named in one note. */
const DAYS_NOTED = 3;

/** About a wall time that the zone shows twice. */
function overlapNote(zone: ZoneData, at: number): string | null {
  const segment = segmentAt(zone, at);
  const wallMs = at + offsetOf(zone, segment);
  const last = segmentAt(zone, at + reachMs);
  for (let other = segmentAt(zone, at - reachMs); other <= last; other += 1) {
    if (other === segment || !shows(zone, other, wallMs)) continue;
    const changeMs = other < segment ? startOf(zone, segment) : endOf(zone, segment);
    const which = other < segment ? 'second' : 'first';
    const time = shortTime(formatWall(wallMs));
    return `${time} occurs twice: the clock goes back from ${clockChange(zone, changeMs)}. This is the ${which}.`;
  }
  return null;
}

/** `02:00 to 03:00` */
function clockChange(zone: ZoneData, changeMs: number): string {
  const segment = segmentAt(zone, changeMs);
  const show = (offsetMs: number) => shortTime(formatWall(changeMs + offsetMs));
  return `${show(offsetOf(zone, segment - 1))} to ${show(offsetOf(zone, segment))}`;
}

/** Without the seconds where there are none. */
function shortTime(wallTime: string): string {
  const time = wallTime.slice(11);
  return time.endsWith(':00') ? time.slice(0, 5) : time;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
