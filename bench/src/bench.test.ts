import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { atLeast, atMost, judge } from './bar.ts';
import { chartOf } from './chart.ts';
import { chooseParts } from './choose.ts';
import { type Figure, jsonOf, missedIn, tableOf } from './figure.ts';
import { comparedWith, readRecorded, record } from './recorded.ts';
import { againstRaw, medianOf } from './repeat.ts';

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
  expect(chooseParts(['raw', 'storm'], undefined, ['storm'])).toEqual(['storm']);
  expect(() => chooseParts(['raw', 'storm'], 'strom')).toThrow(
    'There is no part "strom" of the bench. --only takes one of: raw, storm.',
  );
});

test('several measurements are shown as the median, with the least and the most', () => {
  const measured = [7_000, 9_000, 5_000].map((value) => [
    { what: 'tasks', value, unit: 'tasks/s', details: { value } },
  ]);
  const [median] = medianOf(measured);
  expect(median).toMatchObject({ value: 7_000, spread: [5_000, 9_000], details: { value: 7_000 } });
  expect(tableOf(medianOf(measured))).toContain('7,000 (5,000 to 9,000) tasks/s');
  expect(medianOf(measured.slice(0, 1))).toEqual(measured[0]);
});

test('a result is compared with the last recorded one of its size', () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'recorded.json');
  const tasks = (value: number, cpuUs: number): Figure => ({
    what: 'tasks',
    value,
    unit: 'tasks/s',
    details: { 'all µs/task': cpuUs, 'server µs/task': 1 },
  });
  const other: Figure = { what: 'latency', value: 2, unit: 'ms' };
  expect(comparedWith(readRecorded(path, 'full'), tasks(1, 1))).toBe('');
  record(path, 'full', [tasks(10_000, 150)]);
  record(path, 'full', [other]);
  record(path, 'quick', [tasks(5_000, 200)]);
  expect(comparedWith(readRecorded(path, 'full'), tasks(12_000, 120))).toMatch(
    /^×1.20, CPU ×0.80 \(load [0-9.]+ then\)$/,
  );
  expect(comparedWith(readRecorded(path, 'quick'), tasks(12_000, 120))).toMatch(/^×2.40, CPU ×0.60 /);
  expect(comparedWith(readRecorded(path, 'full'), { ...other, value: 3 })).toMatch(/^×1.50 \(/);
  const table = tableOf([tasks(12_000, 120)], (figure) => comparedWith(readRecorded(path, 'full'), figure));
  expect(table).toMatch(/12,000 tasks\/s {2}×1.20, CPU ×0.80 .* all µs\/task 120/);
});

test('throughput is also shown as a part of raw PostgreSQL, if that was measured', () => {
  const tasks: Figure = { what: 'no-op tasks, submit to done, in-process handlers', value: 12_000, unit: 'tasks/s' };
  const others: Figure[] = [{ what: 'chains of three tasks', value: 6_000, unit: 'chains/s' }];
  const raw: Figure = { what: 'raw PostgreSQL, the same writes in groups of 500', value: 30_000, unit: 'tasks/s' };
  expect(againstRaw([tasks, ...others])).toEqual([]);
  const what = 'no-op tasks, submit to done, in-process handlers: part of raw PostgreSQL';
  expect(againstRaw([tasks, ...others, raw])).toEqual([{ what, value: 0.4, unit: '' }]);
});

test('a chart is an SVG with a line for each series, within its frame, and escaped text', () => {
  const series = [
    { name: 'p50', points: [[0, 1] as const, [10, 3] as const] },
    { name: 'a<b', points: [[0, 0] as const, [10, 7] as const] },
  ];
  const svg = chartOf({ title: 'Waits & more', xUnit: 'minutes', yUnit: 'ms', series });
  // The axis ends at 8, the next round number above 7; both lines begin at the left edge and end at the right one.
  expect(svg).toContain('d="M62.0 185.3L624.0 143.8"');
  expect(svg).toContain('d="M62.0 206.0L624.0 60.8"');
  expect(svg).toContain('Waits &amp; more');
  expect(svg).toContain('a&lt;b');
  expect(svg).not.toContain('NaN');
});
