/** When a schedule fires, computed by the same function that the server uses. */
import {
  compileTimetable,
  scheduleFault as faultOf,
  type Instant,
  type ScheduleFault,
  windowAfter,
} from '@signalbox/engine';
import { type DagDefinition, parseDagDefinition } from '@signalbox/protocol';
import { zoneData } from '@signalbox/protocol/zones';
import { definitionOf, type Testable } from './definition.ts';

type Schedule = NonNullable<DagDefinition['schedule']>;

/** What is wrong with it; null when it can be used. */
export function scheduleFault({
  cron,
  zone = 'UTC',
  gap = 'fire_after',
}: Pick<Schedule, 'cron' | 'zone' | 'gap'>): ScheduleFault | null {
  return faultOf({ cron, zone, gap }, Date.now() as Instant, zoneData);
}

/**
 * The next times at which runs of the dag would be created; fewer than asked for when it does not fire so often. An `H` in
 * its cron is spread by the id that a server gives the dag, which is another there.
 *
 * @example expect(nextWindows(coffee, '2026-03-28T12:00:00Z', 2)).toEqual([new Date('2026-03-29T05:00:00Z'), …]);
 */
export function nextWindows(dag: Testable, from: Date | string, count: number): Date[] {
  const { schedule, name } = parseDagDefinition(definitionOf(dag));
  if (schedule === null) throw new Error(`Dag ${name} has no schedule.`);
  const fault = scheduleFault(schedule);
  if (fault !== null) throw new Error(`The schedule of dag ${name} cannot be used: ${fault.message} ${fault.remedy}`);
  const compiled = compileTimetable(schedule, name);
  let at = new Date(from).getTime();
  if (!compiled.ok || Number.isNaN(at))
    throw new Error(`${String(from)} is no instant; give one such as 2026-01-01T00:00:00Z.`);
  const windows: Date[] = [];
  while (windows.length < count) {
    const next = windowAfter(compiled.timetable, at as Instant, zoneData);
    if (next === null) break;
    windows.push(new Date(next));
    at = next;
  }
  return windows;
}
