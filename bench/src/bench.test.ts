import { expect, test } from 'vitest';
import { atLeast, atMost, judge } from './bar.ts';
import { chooseParts } from './choose.ts';
import { type Figure, jsonOf, missedIn, tableOf } from './figure.ts';

test.each([
  [9_000, atLeast({ must: 8_000, goal: 20_000 }), '≥ 8,000 met, goal ≥ 20,000 missed', 'met', 'missed'],
  [7_999, atLeast({ must: 8_000, goal: 20_000 }), '≥ 8,000 missed, goal ≥ 20,000 missed', 'missed', 'missed'],
  [2.5, atMost({ must: 5, goal: 3 }), '≤ 5 met, goal ≤ 3 met', 'met', 'met'],
  [4, atMost({ goal: 3 }), 'goal ≤ 3 missed', null, 'missed'],
  [4, atMost({ goal: 25, of: { name: 'p99', value: 30 } }), 'p99 goal ≤ 25 missed', null, 'missed'],
  [Number.NaN, atMost({ must: 5 }), '≤ 5 missed', 'missed', null],
] as const)('%d is judged by its bar', (value, bar, text, must, goal) => {
  expect(judge(value, bar)).toEqual({ text, must, goal });
});

test('the table and the JSON say of each figure whether its bar is met', () => {
  const figures: Figure[] = [
    { what: 'tasks', value: 7_000, unit: 'tasks/s', bar: atLeast({ must: 8_000 }) },
    { what: 'latency', value: 2, unit: 'ms', bar: atMost({ must: 5, goal: 3 }) },
    { what: 'no bar', value: 1, unit: 's' },
  ];
  expect(tableOf(figures)).toContain('tasks    7,000 tasks/s  ≥ 8,000 missed');
  expect(missedIn(figures).map(({ what }) => what)).toEqual(['tasks']);
  expect((JSON.parse(jsonOf(figures)) as { verdict?: unknown }[]).map(({ verdict }) => verdict)).toEqual([
    { must: 'missed', goal: null },
    { must: 'met', goal: 'met' },
    undefined,
  ]);
});

test('--only takes the name of a part, and lists the names when there is none such', () => {
  expect(chooseParts(['raw', 'storm'], undefined)).toEqual(['raw', 'storm']);
  expect(chooseParts(['raw', 'storm'], 'storm')).toEqual(['storm']);
  expect(chooseParts(['raw', 'raw-bulk', 'rawest'], 'raw')).toEqual(['raw', 'raw-bulk']);
  expect(() => chooseParts(['raw', 'storm'], 'strom')).toThrow(
    'There is no part "strom" of the bench. --only takes one of: raw, storm.',
  );
});
