/** When a schedule fires next, computed by the same function that the engine uses. */
import {
  compileTimetable,
  type DagId,
  type Instant,
  previewFirings,
  type ScheduleSpec,
  windowAfter,
} from '@signalbox/engine';
import { zoneData } from '../zones/edge-zones.ts';

interface ShownSchedule {
  readonly spec: ScheduleSpec;
  readonly paused: boolean;
  readonly decidedUntil: Instant;
}

/** Null while it is paused, and for one that never fires. */
export function nextWindowOf(dagId: DagId, { spec, paused, decidedUntil }: ShownSchedule): Instant | null {
  const compiled = compileTimetable(spec, String(dagId));
  return paused || !compiled.ok ? null : (windowAfter(compiled.timetable, decidedUntil, zoneData)?.firesAt ?? null);
}

/** The next ones after what was decided, also of a schedule that is paused. */
export function nextWindowsOf(
  dagId: DagId,
  { spec, decidedUntil }: Omit<ShownSchedule, 'paused'>,
  count: number,
): Instant[] {
  const compiled = compileTimetable(spec, String(dagId));
  if (!compiled.ok) return [];
  return previewFirings(compiled.timetable, decidedUntil, count, zoneData).map(({ firesAt }) => firesAt);
}

/** How far the clock of a zone is ahead of UTC. */
export function offsetMinutesAt(zone: string, at: Instant): number {
  const { initialOffsetMs, transitions } = zoneData(zone, at, at);
  return (transitions.findLast(({ atMs }) => atMs <= at)?.offsetMs ?? initialOffsetMs) / 60_000;
}
