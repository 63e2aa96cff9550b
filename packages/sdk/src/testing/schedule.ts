/** When a schedule fires, by the function that the server decides by. */
import { nextWindow, parseCron } from '@signalbox/engine';
import { isKnownZone, zoneData } from '@signalbox/host/zones';
import { type DagDefinition, parseDagDefinition } from '@signalbox/protocol';
import { definitionOf, type Testable } from './definition.ts';

const DAY_MS = 86_400_000;
const FIRST_SPAN_DAYS = 400;
const LAST_SPAN_DAYS = 40 * 366;

type Schedule = NonNullable<DagDefinition['schedule']>;

/** What is wrong with it; null when it can be used. */
export function scheduleFault({ cron, zone = 'UTC' }: Pick<Schedule, 'cron' | 'zone'>): {
  readonly field: 'cron' | 'zone';
  readonly message: string;
  readonly remedy: string;
} | null {
  const parsed = parseCron(cron, '');
  if (!parsed.ok) return { field: 'cron', message: parsed.problem.message, remedy: parsed.problem.remedy };
  if (isKnownZone(zone)) return null;
  const remedy = 'Give a name of the IANA database, such as Europe/Berlin.';
  return { field: 'zone', message: `The time zone ${JSON.stringify(zone)} is not known.`, remedy };
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
  const parsed = parseCron(schedule.cron, name);
  const windows: Date[] = [];
  let at = new Date(from).getTime();
  if (!parsed.ok || Number.isNaN(at))
    throw new Error(`${String(from)} is no instant; give one such as 2026-01-01T00:00:00Z.`);
  while (windows.length < count) {
    const next = firesAfter(at);
    if (next === null) break;
    windows.push(new Date(next));
    at = next;
  }
  return windows;

  function firesAfter(afterMs: number): number | null {
    for (let days = FIRST_SPAN_DAYS; parsed.ok && schedule !== null; days *= 4) {
      const untilMs = afterMs + Math.min(days, LAST_SPAN_DAYS) * DAY_MS;
      const next = nextWindow(parsed.cron, zoneData(schedule.zone, afterMs, untilMs), afterMs, schedule.gap);
      if (next.kind === 'fires') return next.atMs;
      if (next.kind === 'never' || days >= LAST_SPAN_DAYS) return null;
    }
    return null;
  }
}
