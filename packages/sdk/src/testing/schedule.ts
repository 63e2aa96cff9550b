/** When a schedule fires, computed by the same function that the server uses. */
import {
  compileTimetable,
  scheduleFault as faultOf,
  type Instant,
  previewFirings,
  type ScheduleFault,
  type TimetableSpec,
} from '@signalbox/engine';
import { parseOr, type ScheduleInput, scheduleSchema, toDagSpec, toScheduleSpec } from '@signalbox/protocol';
import { zoneData } from '@signalbox/protocol/zones';
import { definitionOf, type Testable } from './definition.ts';

/** What is wrong with it; null when it can be used. */
export function scheduleFault(schedule: ScheduleInput): ScheduleFault | null {
  return faultOf(specOf(schedule), Date.now() as Instant, zoneData);
}

function specOf(schedule: unknown): TimetableSpec {
  return toScheduleSpec(parseOr(scheduleSchema, schedule, 'BAD_REQUEST')) as TimetableSpec;
}

/**
 * The next windows of the dag, by their logical time: without jitter. Fewer than asked for when it does not fire so often. An
 * `H` in its cron is spread by the id that a server gives the dag, which is another there.
 *
 * @example expect(nextWindows(coffee, '2026-03-28T12:00:00Z', 2)).toEqual([new Date('2026-03-29T05:00:00Z'), …]);
 */
export function nextWindows(dag: Testable, from: Date | string, count: number): Date[] {
  const { spec, name } = toDagSpec(definitionOf(dag));
  if (spec.schedule === null) throw new Error(`Dag ${name} has no schedule.`);
  const schedule = spec.schedule as TimetableSpec;
  const fault = faultOf(schedule, Date.now() as Instant, zoneData);
  if (fault !== null) throw new Error(`The schedule of dag ${name} cannot be used: ${fault.message} ${fault.remedy}`);
  const compiled = compileTimetable(schedule, name);
  const at = new Date(from).getTime();
  if (!compiled.ok || Number.isNaN(at))
    throw new Error(`${String(from)} is no instant; give one such as 2026-01-01T00:00:00Z.`);
  return previewFirings(compiled.timetable, at as Instant, count, zoneData).map(({ at }) => new Date(at));
}
