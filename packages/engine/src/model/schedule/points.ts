/** From wall times to instants, by the data of a zone. */
import { DAY_MS } from './civil.ts';
import type { Point } from './timetable.ts';
import type { ClockChangePolicy } from './zone.ts';
import { endOf, offsetOf, segmentAt, startOf, type ZoneData } from './zone-segments.ts';
import type { ZoneReader } from './zone-source.ts';

/** No offset is longer than 26 hours, no gap longer than a day: an instant lies within this of its wall time. */
export const WALL_REACH_MS = 3 * DAY_MS;

/** The instants at which a wall time fires, in order: none, one or two. */
export function instantsOf(wallMs: number, zones: ZoneReader, { gap, overlap }: ClockChangePolicy): readonly number[] {
  const zone = zones(wallMs - WALL_REACH_MS, wallMs + WALL_REACH_MS);
  const shown = shownAt(zone, wallMs);
  const [first] = shown;
  if (first === undefined) return gap === 'fire_after' ? [gapEnd(zone, wallMs)] : [];
  if (overlap === 'both') return shown;
  return overlap === 'first' ? [first] : shown.slice(-1);
}

/** The one instant of a point: where its wall time occurs twice the first or the last; where it is missing, the end of the gap. */
export function instantOf(point: Point, zones: ZoneReader, which: 'first' | 'last'): number {
  if ('atMs' in point) return point.atMs;
  const overlap = which === 'first' ? 'first' : 'second';
  return instantsOf(point.wallMs, zones, { gap: 'fire_after', overlap })[0] ?? 0;
}

function shownAt(zone: ZoneData, wallMs: number): number[] {
  const found: number[] = [];
  const last = segmentAt(zone, wallMs + WALL_REACH_MS);
  for (let segment = segmentAt(zone, wallMs - WALL_REACH_MS); segment <= last; segment += 1) {
    const atMs = wallMs - offsetOf(zone, segment);
    if (atMs >= startOf(zone, segment) && atMs < endOf(zone, segment)) found.push(atMs);
  }
  return found;
}

/** When the clock, moving forward, has passed over this wall time. */
function gapEnd(zone: ZoneData, wallMs: number): number {
  for (let segment = 1; segment <= zone.transitions.length; segment += 1) {
    const atMs = startOf(zone, segment);
    if (atMs + offsetOf(zone, segment) > wallMs && atMs + offsetOf(zone, segment - 1) <= wallMs) return atMs;
  }
  throw new RangeError(`The data of ${zone.zone} has no gap at ${wallMs}. Supply data that covers it.`);
}
