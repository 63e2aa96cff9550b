import { expect, test } from 'vitest';
import type { Instant } from '../ids.ts';
import { compileTimetable, type TimetableSpec } from './timetable.ts';
import { previousWindow, windowAfter, type ZoneSource } from './window-after.ts';

const HOUR = 3_600_000;
/** Two hours ahead from the second day on. */
const CHANGE = Date.UTC(2027, 0, 2);

const DAY = 24 * HOUR;

function zoneOf(initialOffsetMs: number): ZoneSource {
  const transitions = [{ atMs: CHANGE, offsetMs: initialOffsetMs + 2 * HOUR }];
  const span = { fromMs: CHANGE - 100 * 365 * DAY, untilMs: CHANGE + 100 * 365 * DAY };
  const data = { zone: 'Test/Zone', tzVersion: 'test', ...span, initialOffsetMs, transitions };
  return () => data;
}

function timetable(spec: Partial<TimetableSpec>) {
  const compiled = compileTimetable({ cron: '30 0 * * *', zone: 'Test/Zone', gap: 'skip', ...spec }, 'test');
  if (!compiled.ok) throw new Error(compiled.fault.message);
  return compiled.timetable;
}

const hourOf = (at: number | null | undefined) => (at == null ? null : (at - CHANGE) / HOUR);

test('the same question about other expressions, policies and zone data has other answers', () => {
  const after = (CHANGE - HOUR) as Instant;
  const [skip, fire, later] = [timetable({}), timetable({ gap: 'fire_after' }), timetable({ cron: '45 3 * * *' })];
  const [one, other] = [zoneOf(0), zoneOf(HOUR)];
  // Each twice, so that the second answer comes from what was found lately.
  for (let time = 0; time < 2; time++) {
    expect(hourOf(windowAfter(skip, after, one)?.at)).toBe(22.5);
    expect(hourOf(windowAfter(fire, after, one)?.at)).toBe(0);
    expect(hourOf(windowAfter(later, after, one)?.at)).toBe(1.75);
    expect(hourOf(windowAfter(skip, after, other)?.at)).toBe(-0.5);
    expect(hourOf(previousWindow(skip, after, one))).toBe(-23.5);
    expect(hourOf(previousWindow(skip, after, other))).toBe(-24.5);
  }
});
