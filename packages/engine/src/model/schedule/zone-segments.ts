/** A time zone as data: a row of segments with one offset each, segment 0 before the first transition, segment n after the nth. */

/**
 * The offsets of a zone over a span of time, `untilMs` not included. `fromMs` should lie two days before the first instant
 * that is asked about: whether a wall time occurs for the first time shows only in what came before it.
 */
export interface ZoneData {
  readonly zone: string;
  readonly tzVersion: string;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly initialOffsetMs: number;
  readonly transitions: readonly { readonly atMs: number; readonly offsetMs: number }[];
}

/** No zone ever moved its clock by more than a day, so what is further away than this cannot show the same wall time. */
export const reachMs = 2 * 86_400_000;

export function shows(zone: ZoneData, segment: number, wallMs: number): boolean {
  const atMs = wallMs - offsetOf(zone, segment);
  return atMs >= startOf(zone, segment) && atMs < endOf(zone, segment);
}

export function readingAt(zone: ZoneData, atMs: number): number {
  return atMs + offsetOf(zone, segmentAt(zone, atMs));
}

export function segmentAt(zone: ZoneData, atMs: number): number {
  let low = 0;
  let high = zone.transitions.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((zone.transitions[middle]?.atMs ?? 0) <= atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function offsetOf(zone: ZoneData, segment: number): number {
  return zone.transitions[segment - 1]?.offsetMs ?? zone.initialOffsetMs;
}

export function startOf(zone: ZoneData, segment: number): number {
  return zone.transitions[segment - 1]?.atMs ?? Number.NEGATIVE_INFINITY;
}

export function endOf(zone: ZoneData, segment: number): number {
  return zone.transitions[segment]?.atMs ?? zone.untilMs;
}
