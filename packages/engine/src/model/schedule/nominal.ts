/**
 * The nominal times of a timetable: those of its rule that lie between start and end, on days that its calendar allows. They
 * name the windows; jitter and limits come on top (`window-after.ts`).
 */
import { openFrom } from './calendar.ts';
import { DAY_MS } from './civil.ts';
import type { Cron } from './cron-type.ts';
import { nextLately } from './found-lately.ts';
import { instantOf, instantsOf, WALL_REACH_MS } from './points.ts';
import type { Rule, Timetable } from './timetable.ts';
import { nextWindow } from './zone.ts';
import type { ZoneReader } from './zone-source.ts';

/** How far ahead zone data is asked for at first; rare expressions ask for more. */
const FIRST_SPAN_DAYS = 400;
/** The calendar repeats after 400 years. An expression that does not fire in the first 40 counts as never firing. */
const LAST_SPAN_DAYS = 40 * 366;
/**
 * Times of crons that are looked at for one answer. Each look passes over all days that the calendar closes in a row; what has
 * found nothing by then counts as never firing, so that each answer takes less than 50 ms (I9).
 */
const LOOKS_LIMIT = 10_000;

/** The first one after this instant; null when there is none. */
export function nextNominal(timetable: Timetable, after: number, zones: ZoneReader): number | null {
  const { rule, calendar } = timetable;
  const endMs = endOf(timetable, zones);
  const cost = rule.kind === 'cron' ? rule.crons.length : 1;
  let fromMs = Math.max(after, startOf(timetable, zones) - 1);
  const horizonMs = fromMs + LAST_SPAN_DAYS * DAY_MS;
  for (let looks = 0; looks < LOOKS_LIMIT; looks += cost) {
    const at = nextByRule(timetable, fromMs, zones);
    if (at === null || at > endMs) return null;
    if (calendar === null) return at;
    const openMs = openFrom(calendar, at, (untilMs) => zones(at, Math.max(untilMs, at + FIRST_SPAN_DAYS * DAY_MS)));
    if (openMs === at) return at;
    if (openMs === null || openMs > endMs || openMs > horizonMs) return null;
    fromMs = openMs - 1;
  }
  return null;
}

export function startOf({ start }: Pick<Timetable, 'start'>, zones: ZoneReader): number {
  return start === null ? Number.NEGATIVE_INFINITY : instantOf(start, zones, 'first');
}

export function endOf({ end }: Pick<Timetable, 'end'>, zones: ZoneReader): number {
  return end === null ? Number.POSITIVE_INFINITY : instantOf(end, zones, 'last');
}

function nextByRule({ rule, changes }: Timetable, after: number, zones: ZoneReader): number | null {
  if (rule.kind === 'every') return nextOfEvery(rule, after, zones);
  if (rule.kind === 'at') return nextOfAt(rule, changes, after, zones);
  let found: number | null = null;
  for (const cron of rule.crons) {
    const at = nextOfCron(cron, changes, after, zones);
    if (at !== null && (found === null || at < found)) found = at;
  }
  return found;
}

function nextOfCron(cron: Cron, changes: Timetable['changes'], after: number, zones: ZoneReader): number | null {
  for (let days = FIRST_SPAN_DAYS; ; days *= 4) {
    const zone = zones(after, after + Math.min(days, LAST_SPAN_DAYS) * DAY_MS);
    const known = nextLately.find(cron, zone, after, changes);
    if (known !== null) return known;
    const next = nextWindow(cron, zone, after, changes);
    if (next.kind === 'fires') return nextLately.keep(cron, zone, after, changes, next.atMs);
    if (next.kind === 'never' || days >= LAST_SPAN_DAYS) return null;
  }
}

function nextOfEvery(rule: Extract<Rule, { kind: 'every' }>, after: number, zones: ZoneReader): number {
  const base = instantOf(rule.anchor, zones, 'first') + rule.phaseMs;
  return base + (Math.floor((after - base) / rule.everyMs) + 1) * rule.everyMs;
}

function nextOfAt(
  { instants, walls }: Extract<Rule, { kind: 'at' }>,
  changes: Timetable['changes'],
  after: number,
  zones: ZoneReader,
): number | null {
  let found = instants[firstAfter(instants, after)] ?? Number.POSITIVE_INFINITY;
  for (let index = firstAfter(walls, after - WALL_REACH_MS); index < walls.length; index += 1) {
    const wallMs = walls[index] ?? 0;
    if (wallMs - WALL_REACH_MS > found) break;
    for (const at of instantsOf(wallMs, zones, changes)) if (at > after && at < found) found = at;
  }
  return found === Number.POSITIVE_INFINITY ? null : found;
}

/** The index of the first value that is greater. */
function firstAfter(values: readonly number[], after: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] ?? 0) > after) high = middle;
    else low = middle + 1;
  }
  return low;
}
