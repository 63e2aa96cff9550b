/** When a schedule fires next, computed by the same function that the engine uses. */
import {
  compileTimetable,
  type DagId,
  type Instant,
  previewFirings,
  type ScheduleSpec,
  spreadSeedOf,
  windowAfter,
} from '@signalbox/engine';
import { zoneData } from '../zones/edge-zones.ts';

export interface ShownSchedule {
  readonly dagId: DagId;
  readonly name: string;
  readonly spec: ScheduleSpec;
  readonly paused: boolean;
  readonly decidedUntil: Instant;
  readonly fired: number;
}

/** Null while it is paused, and for one that never fires. */
export function nextWindowOf(schedule: ShownSchedule): Instant | null {
  const compiled = compileTimetable(schedule.spec, spreadSeedOf(schedule));
  return schedule.paused || !compiled.ok
    ? null
    : (windowAfter(compiled.timetable, schedule.decidedUntil, zoneData, { firedSoFar: schedule.fired })?.firesAt ??
        null);
}

/** The next ones after what was decided, also of a schedule that is paused. */
export function nextWindowsOf(schedule: ShownSchedule, count: number): Instant[] {
  const compiled = compileTimetable(schedule.spec, spreadSeedOf(schedule));
  if (!compiled.ok) return [];
  return previewFirings(compiled.timetable, schedule.decidedUntil, count, zoneData).map(({ firesAt }) => firesAt);
}

/** How far the clock of a zone is ahead of UTC. */
export function offsetMinutesAt(zone: string, at: Instant): number {
  const { initialOffsetMs, transitions } = zoneData(zone, at, at);
  return (transitions.findLast(({ atMs }) => atMs <= at)?.offsetMs ?? initialOffsetMs) / 60_000;
}
