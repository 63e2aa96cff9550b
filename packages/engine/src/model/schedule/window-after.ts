/** The windows of a schedule. Used by the engine, by servers that show them, and by tests of dags. */
import type { Instant } from '../ids.ts';
import { DAY_MS } from './civil.ts';
import type { Cron } from './cron-type.ts';
import { previousLately } from './found-lately.ts';
import { nextNominal, startOf } from './nominal.ts';
import { hashOf } from './spread.ts';
import type { Timetable } from './timetable.ts';
import { type ZoneReader, type ZoneSource, ZoneUnknown, zoneReader } from './zone-source.ts';

export { type ZoneSource, zoneOrNull } from './zone-source.ts';

/** `at` names the window and is its logical time. It fires at `firesAt`: the same, or later by jitter. */
export interface Window {
  readonly at: Instant;
  readonly firesAt: Instant;
}

export interface WindowOptions {
  /** How many windows have fired, for a schedule with a limit. */
  readonly firedSoFar?: number;
  /** The jitter of schedules that name none. Those that fire `at` given times have none unless they name it. */
  readonly defaultJitterMs?: number;
}

/** Windows older than this are not looked for. */
const BACK_DAYS = 40 * 366;

/** The first window whose nominal time is after `after`; null when there is none, and for a zone that is not known. */
export function windowAfter(
  timetable: Timetable,
  after: Instant,
  zoneData: ZoneSource,
  { firedSoFar = 0, defaultJitterMs = 0 }: WindowOptions = {},
): Window | null {
  if (timetable.limit !== null && firedSoFar >= timetable.limit) return null;
  return ask(timetable, zoneData, (zones) => {
    const at = nextNominal(timetable, after, zones);
    if (at === null) return null;
    return { at: at as Instant, firesAt: firingOf(timetable, at, zones, defaultJitterMs) };
  });
}

/** The windows with nominal times in (from, until], the first `most` of them. */
export function windowsBetween(
  timetable: Timetable,
  { from, until, most }: { readonly from: Instant; readonly until: Instant; readonly most: number },
  zoneData: ZoneSource,
  options: WindowOptions = {},
): readonly Window[] {
  const found: Window[] = [];
  let after = from;
  while (found.length < most) {
    const firedSoFar = (options.firedSoFar ?? 0) + found.length;
    const window = windowAfter(timetable, after, zoneData, { ...options, firedSoFar });
    if (window === null || window.at > until) break;
    found.push(window);
    after = window.at;
  }
  return found;
}

/**
 * The last nominal time before this instant, whatever the limit; null when there is none. The data interval of a window goes
 * from the one before it to its own. Looks back over growing spans, then halves the one that holds it: a few dozen looks, where the first guess is wrong.
 */
export function previousWindow(timetable: Timetable, before: Instant, zoneData: ZoneSource): Instant | null {
  return ask(timetable, zoneData, (zones) => {
    const cron = onlyCron(timetable);
    if (cron === null) return searchBefore(timetable, before, zones);
    const zone = zones(before, before);
    const known = previousLately.find(cron, zone, before, timetable.changes);
    if (known !== null) return known as Instant;
    const found = searchBefore(timetable, before, zones);
    if (found !== null) previousLately.keep(cron, zone, before, timetable.changes, found);
    return found;
  });
}

/** The expression, where nothing else decides when a schedule fires. */
function onlyCron({ rule, start, end, calendar }: Timetable): Cron | null {
  if (rule.kind !== 'cron' || rule.crons.length !== 1 || start !== null || end !== null || calendar !== null)
    return null;
  return rule.crons[0] ?? null;
}

function searchBefore(timetable: Timetable, before: Instant, zones: ZoneReader): Instant | null {
  const earliest = Math.max(0, before - BACK_DAYS * DAY_MS, startOf(timetable, zones)) - 1;
  const next = (after: number) => {
    const at = nextNominal(timetable, after, zones);
    return at !== null && at < before ? at : null;
  };
  const regular = regularlyBefore(timetable, before, zones, next);
  if (regular !== null && regular > earliest) return regular as Instant;
  // All that comes after `high` is too late; something before `before` comes after `low`.
  let high: number = before;
  let [spanMs, low] = [1_000, next(Math.max(earliest, before - 1_001))];
  while (low === null) {
    high = before - spanMs;
    if (high <= earliest) return null;
    spanMs *= 4;
    low = next(Math.max(earliest, before - spanMs));
  }
  for (let later = next(low); later !== null; later = next(low)) {
    const middle = Math.floor((later + high) / 2);
    const found = middle > later ? next(middle) : null;
    if (found === null) high = Math.min(high, Math.max(middle, later));
    low = found ?? later;
  }
  return low as Instant;
}

/** Most schedules have as much time before a window as after it: that is worth a look before the search. */
function regularlyBefore(
  timetable: Timetable,
  before: number,
  zones: ZoneReader,
  next: (after: number) => number | null,
): number | null {
  const following = nextNominal(timetable, before, zones);
  if (following === null) return null;
  const found = next(before - (following - before) - 1);
  return found !== null && next(found) === null ? found : null;
}

/**
 * Evenly within the jitter, and always the same for a window. The shift ends before the next nominal time, so that windows of
 * one schedule fire in their order.
 */
function firingOf(timetable: Timetable, at: number, zones: ZoneReader, defaultJitterMs: number): Instant {
  const jitterMs = timetable.jitterMs ?? (timetable.rule.kind === 'at' ? 0 : defaultJitterMs);
  if (jitterMs === 0) return at as Instant;
  const next = nextNominal(timetable, at, zones);
  const roomMs = next === null ? jitterMs : Math.min(jitterMs, next - at);
  const share = hashOf(`jitter:${timetable.seed}:${at}`) / 0x1_0000_0000;
  return (at + Math.floor(share * roomMs)) as Instant;
}

function ask<Answer>({ zone }: Timetable, zoneData: ZoneSource, answer: (zones: ZoneReader) => Answer): Answer | null {
  try {
    return answer(zoneReader(zoneData, zone));
  } catch (error) {
    if (error instanceof ZoneUnknown) return null;
    throw error;
  }
}
