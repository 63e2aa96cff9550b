/** When a schedule fires, in a few words: `0 7 * * *`, `every 15m`, `at 2027-01-01T09:00:00Z`. For lists and messages. */
import { formatWall } from './local-time.ts';
import type { TimePoint, TimetableSpec } from './schedule-spec.ts';

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

export function describeTiming({ cron, everyMs, phaseMs, at }: TimetableSpec): string {
  if (cron !== undefined) return [cron].flat().join('; ');
  if (everyMs !== undefined) return `every ${span(everyMs)}${phaseMs === undefined ? '' : ` from ${span(phaseMs)} on`}`;
  const [first = '', ...more] = at ?? [];
  return `at ${showPoint(first)}${more.length === 0 ? '' : ` and ${more.length} more`}`;
}

export function showPoint(point: TimePoint): string {
  return typeof point === 'string' ? point : `${formatWall(point)}Z`;
}

/** In the longest unit that divides it. */
export function span(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms > 0 && ms % each === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}
