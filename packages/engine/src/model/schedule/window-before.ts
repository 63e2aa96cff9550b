/** The last window of a schedule before an instant: the start of its data interval, and the way of a backfill backwards. */
import type { Instant } from '../ids.ts';
import type { Timetable } from './timetable.ts';
import { windowAfter, type ZoneSource } from './window-after.ts';

const FIRST_SPAN_MS = 60_000;
/** As far as `windowAfter` looks ahead. */
const LAST_SPAN_MS = 40 * 366 * 86_400_000;

/** Null when there is none in the 40 years before. */
export function windowBefore(timetable: Timetable, before: Instant, zoneData: ZoneSource): Instant | null {
  const isBefore = (at: Instant | null): at is Instant => at !== null && at < before;
  for (let spanMs = FIRST_SPAN_MS; ; spanMs *= 4) {
    const from = Math.max(0, before - spanMs) as Instant;
    const found = windowAfter(timetable, from, zoneData);
    if (isBefore(found)) return lastOf(found);
    if (from === 0 || spanMs > LAST_SPAN_MS) return null;
  }

  /** Halves the rest of the span instead of walking it: an expression may fire each second, but only in January. */
  function lastOf(first: Instant): Instant {
    let last = first;
    let end: number = before;
    for (;;) {
      const next = windowAfter(timetable, last, zoneData);
      if (!isBefore(next)) return last;
      last = next;
      const middle = Math.floor((last + end) / 2) as Instant;
      const later = windowAfter(timetable, middle, zoneData);
      if (isBefore(later)) last = later;
      else end = middle;
    }
  }
}
