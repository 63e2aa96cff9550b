/** Wall times that a clock change removes and at which a schedule would have fired: the windows to record as skipped (I3). */
import { isOpen } from './calendar.ts';
import { DAY_MS } from './civil.ts';
import { formatWall, parseLocalTime } from './local-time.ts';
import { endOf, startOf } from './nominal.ts';
import { instantsOf, WALL_REACH_MS } from './points.ts';
import type { Timetable } from './timetable.ts';
import { removedWindows } from './zone.ts';
import { type ZoneReader, type ZoneSource, ZoneUnknown, zoneReader } from './zone-source.ts';

interface RemovedWindow {
  /** `2027-03-14T02:30:00` */
  readonly wallTime: string;
  /** When the clock went forward over it. */
  readonly gapAtMs: number;
}

/** Those of clock changes in (afterMs, untilMs], oldest first. Where `gap` is `fire_after` the firing at the gap's end stands for them. */
export function removedBetween(
  timetable: Timetable,
  afterMs: number,
  untilMs: number,
  zoneData: ZoneSource,
): readonly RemovedWindow[] {
  const zones = zoneReader(zoneData, timetable.zone);
  try {
    const [startMs, endMs] = [startOf(timetable, zones), endOf(timetable, zones)];
    const found = new Map<string, RemovedWindow>();
    for (const removed of removedByRule(timetable, afterMs, untilMs, zones)) {
      const { wallTime, gapAtMs } = removed;
      const dayNo = Math.floor((parseLocalTime(wallTime) ?? 0) / DAY_MS);
      if (gapAtMs < startMs || gapAtMs > endMs) continue;
      if (timetable.calendar !== null && !isOpen(timetable.calendar, dayNo)) continue;
      found.set(wallTime, removed);
    }
    return [...found.values()].sort((a, b) => (a.wallTime < b.wallTime ? -1 : 1));
  } catch (error) {
    if (error instanceof ZoneUnknown) return [];
    throw error;
  }
}

function removedByRule(
  { rule, changes }: Timetable,
  afterMs: number,
  untilMs: number,
  zones: ZoneReader,
): readonly RemovedWindow[] {
  if (rule.kind === 'every') return [];
  if (rule.kind === 'cron') {
    const zone = zones(afterMs, untilMs + DAY_MS);
    return rule.crons.flatMap((cron) => removedWindows(cron, zone, afterMs, untilMs));
  }
  const near = rule.walls.filter((wallMs) => wallMs > afterMs - WALL_REACH_MS && wallMs < untilMs + WALL_REACH_MS);
  const removed: RemovedWindow[] = [];
  for (const wallMs of near) {
    if (instantsOf(wallMs, zones, { ...changes, gap: 'skip' }).length > 0) continue;
    const [gapAtMs = 0] = instantsOf(wallMs, zones, { ...changes, gap: 'fire_after' });
    if (gapAtMs > afterMs && gapAtMs <= untilMs) removed.push({ wallTime: formatWall(wallMs), gapAtMs });
  }
  return removed;
}
