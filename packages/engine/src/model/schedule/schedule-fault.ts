/** Why a schedule can't be used. A deploy with such a schedule is refused, and checks without a server report the same. */
import type { Instant } from '../ids.ts';
import { describeTiming } from './describe-timing.ts';
import { fault, type ScheduleFault } from './fault.ts';
import { endOf, startOf } from './nominal.ts';
import { instantsOf } from './points.ts';
import { compileTimetable, type Timetable, type TimetableSpec } from './timetable.ts';
import { windowAfter } from './window-after.ts';
import { type ZoneReader, type ZoneSource, zoneOrNull, zoneReader } from './zone-source.ts';

export type { ScheduleFault } from './fault.ts';

/**
 * Null when it can be used. `now` is the instant from which on it must fire at least once; one that is over, by its `end` or
 * because all its times have passed, can be used and does nothing: a dag with it can be deployed again. What an `H` in the expression is
 * spread by (`seed`) alters when it fires, not whether it does.
 */
export function scheduleFault(
  spec: TimetableSpec,
  now: Instant,
  zoneData: ZoneSource,
  seed = '',
): ScheduleFault | null {
  const compiled = compileTimetable(spec, seed);
  if (!compiled.ok) return compiled.fault;
  const { timetable } = compiled;
  if (zoneOrNull(zoneData, timetable.zone, now, now) === null) {
    const remedy = 'Give a name of the IANA database, such as Europe/Berlin.';
    return fault('zone', `The time zone ${JSON.stringify(timetable.zone)} is not known.`, remedy).fault;
  }
  const zones = zoneReader(zoneData, timetable.zone);
  return orderFault(timetable, zones) ?? neverFault(spec, timetable, now, zoneData);
}

function orderFault(timetable: Timetable, zones: ZoneReader): ScheduleFault | null {
  const [startMs, endMs] = [startOf(timetable, zones), endOf(timetable, zones)];
  if (startMs > endMs) {
    return fault('end', 'The schedule ends before it starts.', 'Give an end that is later than start.').fault;
  }
  const { rule, changes } = timetable;
  if (rule.kind !== 'at') return null;
  const times = [...rule.instants, ...rule.walls.flatMap((wallMs) => instantsOf(wallMs, zones, changes))];
  if (times.every((at) => at >= startMs && at <= endMs)) return null;
  const field = times.some((at) => at < startMs) ? 'start' : 'end';
  const side = field === 'start' ? 'before the start' : 'after the end';
  return fault('at', `A time lies ${side} of the schedule.`, `Remove the time, or move ${field}.`).fault;
}

function neverFault(
  spec: TimetableSpec,
  timetable: Timetable,
  now: Instant,
  zoneData: ZoneSource,
): ScheduleFault | null {
  const from = Math.min(now, lastOf(timetable, zoneData));
  if (windowAfter(timetable, from as Instant, zoneData) !== null) return null;
  const shown = describeTiming(spec);
  if (
    timetable.calendar !== null &&
    windowAfter({ ...timetable, calendar: null }, from as Instant, zoneData) !== null
  ) {
    const message = `The schedule "${shown}" never fires: its calendar allows none of its times.`;
    return fault('calendar', message, 'Allow a day on which the schedule would fire.').fault;
  }
  if (timetable.rule.kind === 'at') {
    const message = 'The schedule never fires: a clock change removes its time.';
    return fault('at', message, 'Give a time that exists, or gap: fire_after.').fault;
  }
  if (timetable.start !== null || timetable.end !== null) {
    const message = `The schedule "${shown}" never fires between its start and its end.`;
    return fault('end', message, 'Move start or end.').fault;
  }
  const message = `The cron expression "${shown}" never fires: no date matches it.`;
  return fault('cron', message, 'Correct the day of month or the month.').fault;
}

/** Before the first of its given times; with an end, at its start or long before the end. */
function lastOf(timetable: Timetable, zoneData: ZoneSource): number {
  const zones = zoneReader(zoneData, timetable.zone);
  const { rule, changes, start, end } = timetable;
  if (rule.kind === 'at') {
    const walls = rule.walls
      .slice(0, 1)
      .flatMap((wallMs) => instantsOf(wallMs, zones, { ...changes, gap: 'fire_after' }));
    return Math.min(...rule.instants.slice(0, 1), ...walls) - 1;
  }
  if (end === null) return Number.POSITIVE_INFINITY;
  return start === null ? Math.max(0, endOf(timetable, zones) - LONG_MS) : startOf(timetable, zones) - 1;
}

const LONG_MS = 30 * 366 * 86_400_000;
