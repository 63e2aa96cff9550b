/** The windows of the schedules that histories have, told without the code under test. */
import type { ScheduleSet, ScheduleSpec } from '@signalbox/engine';
import { PERIODS_MS } from '../world/workload.ts';
import { WALL } from '../world/zone.ts';

const DAY_MS = 86_400_000;

/** A time of the day, in milliseconds after midnight, for a schedule that fires at one; null for others. */
export function timeOfDay({ cron, zone }: Pick<ScheduleSpec, 'cron' | 'zone'>): number | null {
  if (zone !== WALL) return null;
  const [second, minute, hour] = String(cron).split(' ').map(Number);
  return ((hour! * 60 + minute!) * 60 + second!) * 1_000;
}

/** The number of the day for which it fires at this instant, if times of the day come so much later than in UTC; null for none. */
export function dayOf(timeMs: number, at: number, laterMs: number): number | null {
  const day = (at - timeMs - laterMs) / DAY_MS;
  return Number.isInteger(day) ? day : null;
}

/** When it fires for a day. */
export function instantOfDay(timeMs: number, day: number, laterMs: number): number {
  return day * DAY_MS + timeMs + laterMs;
}

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

/** By how much its own jitter moves a window: evenly within it, always the same, and not beyond the next one. */
export function jitterOf({ dagId, name, spec }: Pick<ScheduleSet, 'dagId' | 'name' | 'spec'>, at: number): number {
  const { jitterMs = 0 } = spec;
  if (jitterMs === 0) return 0;
  const seed = name === 'default' ? String(dagId) : `${dagId}/${name}`;
  const roomMs = Math.min(jitterMs, windowAfter(spec, at) - at);
  return Math.floor((hashOf(`jitter:${seed}:${at}`) / 2 ** 32) * roomMs);
}

/** FNV-1a over UTF-16, with the finish of MurmurHash3. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text, 'utf16le')) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
