/** The windows of the schedules that histories have, told without the code under test. */
import type { ScheduleSpec } from '@signalbox/engine';
import { PERIODS_MS } from '../world/workload.ts';

type Timing = Pick<ScheduleSpec, 'cron' | 'everyMs' | 'anchor' | 'phaseMs' | 'at'>;

/** Times that somebody gave, in order; null for a schedule that goes on for ever. */
function timesOf({ at }: Timing): readonly number[] | null {
  return at === undefined ? null : [...new Set(at.map(Number))].sort((a, b) => a - b);
}

function rhythmOf({ cron, everyMs, anchor, phaseMs = 0 }: Timing): {
  readonly everyMs: number;
  readonly at: number;
} {
  if (everyMs !== undefined) return { everyMs, at: Number(anchor ?? 0) + phaseMs };
  return { everyMs: PERIODS_MS[String(cron)] ?? 60_000, at: 0 };
}

/** Infinite when there is none. */
export function windowAfter(spec: Timing, after: number): number {
  const times = timesOf(spec);
  if (times !== null) return Math.min(...times.filter((time) => time > after));
  const { everyMs, at } = rhythmOf(spec);
  return (Math.floor((after - at) / everyMs) + 1) * everyMs + at;
}

/** Null when there is none. */
export function windowBefore(spec: Timing, before: number): number | null {
  const times = timesOf(spec);
  if (times !== null) return times.findLast((time) => time < before) ?? null;
  const { everyMs, at } = rhythmOf(spec);
  return (Math.ceil((before - at) / everyMs) - 1) * everyMs + at;
}

export function isWindow(spec: Timing, at: number): boolean {
  return windowAfter(spec, at - 1) === at;
}

/** How many windows there are from the first to the last of these. */
export function windowsIn(spec: Timing, firstAt: number, lastAt: number): number {
  const times = timesOf(spec);
  if (times !== null) return times.filter((time) => time >= firstAt && time <= lastAt).length;
  return Math.floor((lastAt - firstAt) / rhythmOf(spec).everyMs) + 1;
}
