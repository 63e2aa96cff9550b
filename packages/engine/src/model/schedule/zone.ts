// When a cron fires in a time zone. The zone comes in as data, so that the same schedule and the same data give the same
// windows on every machine and in every replay (I3).
//
// What a clock change does to a schedule depends on its hour field:
//
// - *Fixed hours* (any set but all 24) name wall times. One that a change removes is skipped, or with `fire_after` fires when
//   the gap ends; one that occurs twice fires the first time, the second, or both, as `overlap` says. So `30 1 * * *` fires
//   once a day, whatever the clock does. Steps do not alter this: `*/15 1 * * *` are four wall times.
// - *Every hour* (all 24) names a pace. It fires at each real instant at which the clock reads a match, so it goes
//   through both copies of a repeated hour, and passes over a removed one without a pause: `*/15 * * * *` fires every
//   15 real minutes. A removed wall time counts as lost only when the instant it would have been is no firing under its new
//   reading: in the half hour that Lord Howe removes, `0 * * * *` loses its 2:00, since that instant now reads 2:30.

import { horizonYears, matchesWall, nextWall } from './cron-next.ts';
import type { Cron } from './cron-type.ts';
import { formatWall } from './local-time.ts';
import { endOf, offsetOf, reachMs, readingAt, segmentAt, shows, startOf, type ZoneData } from './zone-segments.ts';

export type { ZoneData } from './zone-segments.ts';

/** `beyond`: nothing fires within the data; for an answer it has to reach at least `untilMs`. */
type NextWindow = { kind: 'fires'; atMs: number } | { kind: 'never' } | { kind: 'beyond'; untilMs: number };

const dayMs = 86_400_000;
const horizonMs = horizonYears * 365.25 * dayMs;

/** What a clock change does to fixed hours. */
export interface ClockChangePolicy {
  /** A wall time that the change removes is skipped, or all that the gap removes fire once, at its end. */
  readonly gap: 'skip' | 'fire_after';
  /** A wall time that occurs twice fires the first time, the second, or both. */
  readonly overlap: 'first' | 'second' | 'both';
}

const DEFAULT_POLICY: ClockChangePolicy = { gap: 'skip', overlap: 'first' };

/**
 * The next firing strictly after `afterMs`.
 *
 *   nextWindow(cron, berlin, afterMs) // { kind: 'fires', atMs: 1743296400000 }
 */
export function nextWindow(
  cron: Cron,
  zone: ZoneData,
  afterMs: number,
  { gap, overlap }: ClockChangePolicy = DEFAULT_POLICY,
): NextWindow {
  assertWithin(zone, afterMs);
  let fromMs = Math.floor(afterMs) + 1;
  let segment = segmentAt(zone, fromMs);
  // Each round either enters the next segment or leaves behind all that repeats one other segment.
  for (;;) {
    const offsetMs = offsetOf(zone, segment);
    const endMs = endOf(zone, segment);
    const wallMs = nextWall(cron, fromMs + offsetMs);
    if (wallMs === undefined) return { kind: 'never' };
    const atMs = wallMs - offsetMs;
    if (atMs - afterMs > horizonMs) return { kind: 'never' };
    if (atMs < endMs) {
      if (cron.everyHour || overlap === 'both') return { kind: 'fires', atMs };
      if (overlap === 'second' && atMs + reachMs >= zone.untilMs)
        return { kind: 'beyond', untilMs: atMs + reachMs + 1 };
      const passOver = overlap === 'first' ? shownBeforeUntil : shownAgainUntil;
      const untilWallMs = passOver(zone, segment, wallMs);
      if (untilWallMs === undefined) return { kind: 'fires', atMs };
      fromMs = untilWallMs - offsetMs;
    } else if (segment === zone.transitions.length) {
      return { kind: 'beyond', untilMs: atMs + reachMs };
    } else {
      segment += 1;
      fromMs = endMs;
      if (gap === 'fire_after' && lostWalls(cron, zone, segment, 1).length > 0) return { kind: 'fires', atMs: endMs };
    }
  }
}

/**
 * Wall times that a clock change in (afterMs, untilMs] removed and at which the cron would have fired, oldest first: the
 * windows to record as skipped (I3). Where `gap` is `fire_after` the firing at the gap's end stands for all of them. As
 * many as the gap has matching seconds: a few as a rule, 86,400 for `* * * * * *` kept to the day that Apia left out.
 */
export function removedWindows(
  cron: Cron,
  zone: ZoneData,
  afterMs: number,
  untilMs: number,
): readonly { readonly wallTime: string; readonly gapAtMs: number }[] {
  assertWithin(zone, afterMs);
  if (untilMs >= zone.untilMs) throw new RangeError(outside(zone, untilMs));
  const removed: { wallTime: string; gapAtMs: number }[] = [];
  for (let segment = segmentAt(zone, afterMs) + 1; segment <= zone.transitions.length; segment += 1) {
    const gapAtMs = startOf(zone, segment);
    if (gapAtMs > untilMs) break;
    for (const wallMs of lostWalls(cron, zone, segment, Number.POSITIVE_INFINITY)) {
      removed.push({ wallTime: formatWall(wallMs), gapAtMs });
    }
  }
  return removed;
}

/** The wall times that the change at the start of `segment` makes the cron lose. */
function lostWalls(cron: Cron, zone: ZoneData, segment: number, limit: number): readonly number[] {
  const gapAtMs = startOf(zone, segment);
  const offsetMs = offsetOf(zone, segment - 1);
  const gapEndWallMs = gapAtMs + offsetOf(zone, segment);
  const lost: number[] = [];
  let fromWallMs = gapAtMs + offsetMs;
  while (lost.length < limit && fromWallMs < gapEndWallMs) {
    const wallMs = nextWall(cron, fromWallMs);
    if (wallMs === undefined || wallMs >= gapEndWallMs) break;
    const keepsPace = cron.everyHour && matchesWall(cron, readingAt(zone, wallMs - offsetMs));
    if (!keepsPace && !occursNear(zone, gapAtMs, wallMs)) lost.push(wallMs);
    fromWallMs = wallMs + 1;
  }
  return lost;
}

/** When an earlier segment has shown this wall time already: the wall time at which that segment ended. */
function shownBeforeUntil(zone: ZoneData, segment: number, wallMs: number): number | undefined {
  const atMs = wallMs - offsetOf(zone, segment);
  if (atMs - startOf(zone, segment) > reachMs) return undefined;
  for (let earlier = segmentAt(zone, startOf(zone, segment) - reachMs); earlier < segment; earlier += 1) {
    if (shows(zone, earlier, wallMs)) return endOf(zone, earlier) + offsetOf(zone, earlier);
  }
  return undefined;
}

/** When a later segment shows this wall time again: the wall time up to which both segments show the same. */
function shownAgainUntil(zone: ZoneData, segment: number, wallMs: number): number | undefined {
  const atMs = wallMs - offsetOf(zone, segment);
  const last = segmentAt(zone, atMs + reachMs);
  for (let later = segment + 1; later <= last; later += 1) {
    if (!shows(zone, later, wallMs)) continue;
    return Math.min(endOf(zone, segment) + offsetOf(zone, segment), endOf(zone, later) + offsetOf(zone, later));
  }
  return undefined;
}

/** Two changes within two days may give back what one of them removed; the wall time then fires where it does occur. */
function occursNear(zone: ZoneData, gapAtMs: number, wallMs: number): boolean {
  const last = segmentAt(zone, gapAtMs + reachMs);
  for (let segment = segmentAt(zone, gapAtMs - reachMs); segment <= last; segment += 1) {
    if (shows(zone, segment, wallMs)) return true;
  }
  return false;
}

/** Data that starts too late is a bug of the caller: a window that was passed over would be gone for good (I2). */
function assertWithin(zone: ZoneData, atMs: number): void {
  if (!(atMs >= zone.fromMs)) throw new RangeError(outside(zone, atMs));
}

function outside(zone: ZoneData, atMs: number): string {
  return `Asked about ${atMs}, but the data of ${zone.zone} covers ${zone.fromMs} to ${zone.untilMs}. Supply data that covers it.`;
}
