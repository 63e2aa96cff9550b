/** When a schedule fires next, computed by the same function that the engine uses. */
import {
  compileTimetable,
  type DagId,
  type Firing,
  type Instant,
  previewFirings,
  type ScheduleSpec,
  spreadSeedOf,
  type WindowOptions,
  windowAfter,
} from '@signalbox/engine';
import { toIso } from '../iso-instants.ts';
import { defaultJitterMs } from '../settings/edge-settings.ts';
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
  if (schedule.paused || !compiled.ok) return null;
  return windowAfter(compiled.timetable, schedule.decidedUntil, zoneData, optionsOf(schedule))?.firesAt ?? null;
}

/** The next ones after what was decided, also of a schedule that is paused. */
export function nextFiringsOf(schedule: ShownSchedule, count: number): Firing[] {
  const compiled = compileTimetable(schedule.spec, spreadSeedOf(schedule));
  if (!compiled.ok) return [];
  return previewFirings(compiled.timetable, schedule.decidedUntil, count, zoneData, optionsOf(schedule));
}

function optionsOf({ fired }: ShownSchedule): WindowOptions {
  return { firedSoFar: fired, defaultJitterMs: defaultJitterMs() };
}

/** How far the clock of a zone is ahead of UTC. */
export function offsetMinutesAt(zone: string, at: Instant): number {
  const { initialOffsetMs, transitions } = zoneData(zone, at, at);
  return (transitions.findLast(({ atMs }) => atMs <= at)?.offsetMs ?? initialOffsetMs) / 60_000;
}

/** That of its expression, where that names one. */
export function zoneOf(schedule: ShownSchedule): string {
  const compiled = compileTimetable(schedule.spec, spreadSeedOf(schedule));
  return compiled.ok ? compiled.timetable.zone : schedule.spec.zone;
}

/** What a clock in the zone shows, with its distance from UTC. */
export function localText(zone: string, at: Instant): string {
  const minutes = offsetMinutesAt(zone, at);
  const local = toIso(at + minutes * 60_000).replace(/(\.000)?Z$/, '');
  if (minutes === 0) return `${local}Z`;
  const two = (part: number) => String(Math.floor(part)).padStart(2, '0');
  return `${local}${minutes < 0 ? '-' : '+'}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`;
}
