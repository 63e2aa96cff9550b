/** The first window of a schedule after an instant. Used by the engine, by servers that show it, and by tests of dags. */
import type { Instant } from '../ids.ts';
import type { Timetable } from './timetable.ts';
import { nextWindow, type ZoneData } from './zone.ts';

/** Throws for a zone that it does not know. */
export type ZoneSource = (zone: string, from: Instant, until: Instant) => ZoneData;

const DAY_MS = 86_400_000;
/** How far ahead zone data is asked for at first; rare expressions ask for more. */
const FIRST_SPAN_DAYS = 400;
/** The calendar repeats after 400 years. An expression that does not fire in the first 40 counts as never firing. */
const LAST_SPAN_DAYS = 40 * 366;

/** Null when there is none, and for a zone that is not known. */
export function windowAfter({ cron, zone, changes }: Timetable, after: Instant, zoneData: ZoneSource): Instant | null {
  for (let days = FIRST_SPAN_DAYS; ; days *= 4) {
    const until = (after + Math.min(days, LAST_SPAN_DAYS) * DAY_MS) as Instant;
    const data = zoneOrNull(zoneData, zone, after, until);
    // Zone data may lose a name on upgrade. That schedule then has no windows; all others go on (I57).
    if (data === null) return null;
    const next = nextWindow(cron, data, after, changes);
    if (next.kind === 'fires') return next.atMs as Instant;
    if (next.kind === 'never' || days >= LAST_SPAN_DAYS) return null;
  }
}

export function zoneOrNull(zoneData: ZoneSource, zone: string, from: Instant, until: Instant): ZoneData | null {
  try {
    return zoneData(zone, from, until);
  } catch {
    return null;
  }
}
