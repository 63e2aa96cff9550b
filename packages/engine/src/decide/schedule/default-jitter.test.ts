import { expect, test } from 'vitest';
import { START } from '../../testing/node.ts';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { every, job } from '../../testing/specs.ts';

const MINUTE = 60_000;

/** Nominal minute and delay of each window that has a run. */
const fired = (box: Scenario) =>
  box.changes('WindowDecided').map(({ firesAt, at }) => [(firesAt - START) / MINUTE, at - firesAt] as const);

function cluster(jitterMs: number) {
  const setting = { jitterMs };
  const settings = { horizonMs: 10 * MINUTE, defaultJitterMs: () => setting.jitterMs };
  return { setting, settings };
}

test('a schedule that names no jitter has that of the cluster, always the same for a window (I3)', () => {
  const [first, second] = [1, 2].map(() => {
    const box = scenario({ dag: job({ schedule: every('*/10 * * * *') }), settings: cluster(5 * MINUTE).settings });
    return fired(box.advance('1m').killOwner().advance('59m'));
  });
  expect(first!.map(([minute]) => minute)).toEqual([10, 20, 30, 40, 50]);
  for (const [, lateMs] of first!) expect(lateMs).toBeLessThan(5 * MINUTE + 1_000);
  expect(new Set(first!.map(([, lateMs]) => lateMs)).size).toBeGreaterThan(3);
  expect(second).toEqual(first);
});

test.each([
  ['0, which means on time', 0, 1_000],
  ['a shorter one', 2_000, 3_000],
])('a jitter of its own wins: %s', (_, jitterMs, most) => {
  const schedule = every('*/10 * * * *', { jitterMs });
  const box = scenario({ dag: job({ schedule }), settings: cluster(5 * MINUTE).settings });
  for (const [, lateMs] of fired(box.advance('1h'))) expect(lateMs).toBeLessThanOrEqual(most);
});

test('given times are not delayed by it', () => {
  const box = scenario({ dag: job(), runs: 0, settings: cluster(5 * MINUTE).settings });
  box.createSchedules({ once: { ...every('* * * * *'), cron: undefined as never, at: [(START + MINUTE) as never] } });
  expect(fired(box.advance('10m'))).toEqual([[1, 0]]);
});

test('whenever it is raised or lowered, each window is decided once, and none is late by more than both (I1, I2)', () => {
  for (const [from, to] of [
    [0, 9 * MINUTE],
    [9 * MINUTE, 0],
    [3 * MINUTE, 8 * MINUTE],
  ] as const) {
    for (const minute of [1, 8, 11, 14, 17, 19, 25]) {
      const { setting, settings } = cluster(from);
      const box = scenario({ dag: job({ schedule: every('*/10 * * * *') }), settings });
      box.advance(`${minute}m`);
      setting.jitterMs = to;
      // Servers load again when the setting has changed.
      box.killOwner('1s').advance('80m');
      const windows = fired(box);
      expect(windows.slice(0, 7).map(([at]) => at)).toEqual([10, 20, 30, 40, 50, 60, 70]);
      for (const [, lateMs] of windows) expect(lateMs).toBeLessThanOrEqual(Math.max(from, to) + 1_000);
    }
  }
});

test('a schedule that waits in the database is in time when the jitter was lowered meanwhile', () => {
  const { setting, settings } = cluster(40 * MINUTE);
  const box = scenario({ dag: job({ schedule: every('0 * * * *') }), settings });
  box.advance('1m');
  expect(box.state.schedules.size).toBe(0);
  setting.jitterMs = 0;
  expect(fired(box.advance('60m'))).toEqual([[60, 0]]);
});
