/**
 * The next firings of a schedule, for people: when, what the clock on the wall shows, and a note where a clock change has a
 * hand in it. Nothing is decided by this; the firings come from the function that decides.
 */
import { assert } from '../assert.ts';
import type { Instant } from '../ids.ts';
import { removedWindows } from './cron.ts';
import { formatWall } from './cron-next.ts';
import { type ScheduleFault, scheduleFault } from './schedule-fault.ts';
import { compileTimetable, type Timetable, type TimetableSpec } from './timetable.ts';
import { windowAfter, type ZoneSource } from './window-after.ts';
import { endOf, offsetOf, reachMs, segmentAt, shows, startOf, type ZoneData } from './zone-segments.ts';

export interface Firing {
  readonly at: Instant;
  /** With its offset: `2027-03-14T03:00:00-04:00`. */
  readonly local: string;
  readonly note: string | null;
}

export type SchedulePreview =
  | { readonly ok: true; readonly zone: string; readonly firings: readonly Firing[] }
  | { readonly ok: false; readonly fault: ScheduleFault };

/** Of a schedule that no dag has yet. An `H` is spread by the id that a server gives a dag, so it may fall elsewhere there. */
export function previewSchedule(
  spec: TimetableSpec,
  from: Instant,
  count: number,
  zoneData: ZoneSource,
): SchedulePreview {
  const fault = scheduleFault(spec, from, zoneData);
  if (fault !== null) return { ok: false, fault };
  const compiled = compileTimetable(spec, '');
  assert(compiled.ok, 'a schedule without a fault compiles');
  const { timetable } = compiled;
  return { ok: true, zone: timetable.zone, firings: previewFirings(timetable, from, count, zoneData) };
}

/** Strictly after `from`; fewer than `count` when it does not fire so often. */
export function previewFirings(timetable: Timetable, from: Instant, count: number, zoneData: ZoneSource): Firing[] {
  const firings: Firing[] = [];
  let before = from;
  while (firings.length < count) {
    const at = windowAfter(timetable, before, zoneData);
    if (at === null) break;
    const zone = zoneData(timetable.zone, before, (at + 2 * reachMs) as Instant);
    firings.push({ at, local: localTime(zone, at), note: noteOf(timetable, zone, before, at) });
    before = at;
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

function noteOf(timetable: Timetable, zone: ZoneData, before: number, at: number): string | null {
  const notes = [gapNote(timetable, zone, before, at), overlapNote(zone, at)].filter((note) => note !== null);
  return notes.length === 0 ? null : notes.join(' ');
}

/** About wall times since the firing before that do not exist. */
function gapNote({ cron, changes }: Timetable, zone: ZoneData, before: number, at: number): string | null {
  const removed = removedWindows(cron, zone, before, at);
  const first = removed[0];
  if (first === undefined) return null;
  const { gapAtMs, wallTime } = first;
  const more = removed.length === 1 ? '' : ` (and ${removed.length - 1} more)`;
  const [day, time] = [wallTime.slice(0, 10), shortTime(wallTime)];
  const doesNotExist = `${time}${more} does not exist on ${day}: the clock goes from ${clockChange(zone, gapAtMs)}.`;
  if (changes.gap === 'skip') return `Skipped: ${doesNotExist}`;
  return gapAtMs === at ? `${doesNotExist} It fires when the gap ends.` : null;
}

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
