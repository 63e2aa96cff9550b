import { expect, test } from 'vitest';
import { clockChange } from './clock-changes.ts';
import { pastRuns, percentile, weeksOf } from './history-figures.ts';

test.each([
  [[], 50, null],
  [[7], 95, 7],
  [[4, 1, 3, 2], 50, 2],
  [[4, 1, 3, 2], 95, 4],
  [Array.from({ length: 100 }, (_, at) => at + 1), 95, 95],
] as const)('of %j at most %i of a hundred exceed… %j', (values, percent, expected) => {
  expect(percentile(values, percent)).toBe(expected);
});

test('columns become runs, oldest first, with the outcome once there is one', () => {
  const history = {
    ids: ['b', 'a'],
    state: ['open' as const, 'ended' as const],
    outcome: [null, 'failed' as const],
    createdAt: ['2026-11-02T00:00:00.000Z', '2026-11-01T00:00:00.000Z'],
    tookMs: [null, 5],
    version: [2, 1],
  };
  expect(pastRuns(history)).toEqual([
    { id: 'a', createdMs: Date.parse('2026-11-01T00:00:00.000Z'), tookMs: 5, state: 'failed' },
    { id: 'b', createdMs: Date.parse('2026-11-02T00:00:00.000Z'), tookMs: null, state: 'open' },
  ]);
});

test('a calendar has whole weeks, and counts the runs of each day', () => {
  const sums = { cancelled: 0, p50Ms: null, p95Ms: null, p99Ms: null };
  const steps = [
    { from: '2026-11-11', succeeded: 0, failed: 0, ...sums },
    { from: '2026-11-12', succeeded: 1, failed: 1, ...sums },
    { from: '2026-11-16', succeeded: 1, failed: 0, ...sums },
  ];
  // Monday 16 November.
  const weeks = weeksOf(steps, new Date(2026, 10, 16, 15).getTime(), 2);
  expect(weeks.map((week) => week.map(({ total, failed }) => [total, failed]))).toEqual([
    [
      [0, 0],
      [0, 0],
      [0, 0],
      [2, 1],
      [0, 0],
      [0, 0],
      [0, 0],
    ],
    [
      [1, 0],
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0],
    ],
  ]);
  // Nothing is known of what is older than the first run, and of the days to come.
  expect(weeks.flat().filter(({ isUnknown }) => isUnknown)).toHaveLength(9);
});

test.each([
  [60, 60, null],
  [60, 120, 'The clock goes forward by 1 h before this one.'],
  [120, 60, 'The clock goes back by 1 h before this one.'],
  [630, 660, 'The clock goes forward by 30 min before this one.'],
])('from an offset of %i to %i minutes: %j', (before, after, expected) => {
  expect(clockChange(before, after)).toBe(expected);
});
