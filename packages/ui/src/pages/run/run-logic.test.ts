import type { RunColumns, RunShape } from '@signalbox/protocol';
import { TASK_STATES } from '@signalbox/protocol/words';
import { expect, test } from 'vitest';
import { withNeighbours } from '../../graph/neighbours.ts';
import { compareRows } from './compare-rows.ts';
import { criticalPath, rowsOf } from './model.ts';
import { readyTimes, segmentsOf, ticksOf } from './segments.ts';

const place = (state: (typeof TASK_STATES)[number]) => TASK_STATES.indexOf(state);
const shape: RunShape = {
  names: ['extract', 'clean', 'join', 'load'],
  groups: [{ name: 'clean', parent: null, mapped: true }],
  group: [null, 0, null, null],
  role: ['task', 'task', 'task', 'task'],
  kind: ['function', 'function', 'function', 'function'],
  edges: [0, 1, 0, 2, 1, 2, 2, 3],
};
const run = {
  columns: {
    state: [place('succeeded'), place('expanded'), place('running'), place('blocked')],
    attempt: [2, 0, 1, 0],
    claimedMs: [5, null, 900, null],
    startedMs: [10, null, 905, null],
    endedMs: [400, null, null, null],
  },
  instances: { '1': { total: 2, states: { succeeded: 1, failed: 1 } } },
} as unknown as RunColumns;

test('rows have the state that people see: a mapped task is what its items come to', () => {
  expect(rowsOf(run, shape).map(({ name, state, group }) => [name, state, group])).toEqual([
    ['extract', 'succeeded', null],
    ['clean', 'failed', 'clean'],
    ['join', 'running', null],
    ['load', 'blocked', null],
  ]);
});

const ended = (...endedMs: (number | null)[]) =>
  rowsOf(run, shape).map((row, at) => ({ ...row, endedMs: endedMs[at] ?? null }));

test('the critical path goes back from the last end, over whichever need ended last', () => {
  expect([...criticalPath(ended(100, 300, 350, 500), shape.edges)]).toEqual([3, 2, 1, 0]);
  expect([...criticalPath(ended(100, null, 350, 500), shape.edges)]).toEqual([3, 2, 0]);
  expect([...criticalPath(ended(), shape.edges)]).toEqual([]);
});

test('neighbours are what comes right before and after', () => {
  expect(withNeighbours([1], shape.edges)).toEqual(new Set([0, 1, 2]));
});

test('a running attempt goes up to now, one that waited shows that it did', () => {
  const [extract, , join] = rowsOf(run, shape);
  const frame = { start: 0, totalMs: 1_000, nowMs: 1_000 };
  const spans = (row: typeof extract) =>
    segmentsOf(row as never, undefined, 0, frame).map(({ kind, fromMs, toMs }) => [kind, fromMs, toMs]);
  expect(spans(extract)).toEqual([
    ['wait', 0, 5],
    ['wait', 5, 10],
    ['run', 10, 400],
  ]);
  const ready = readyTimes(rowsOf(run, shape), shape.edges)[join?.no ?? 0] ?? 0;
  expect(segmentsOf(join as never, undefined, ready, frame).map(({ kind, toMs }) => [kind, toMs])).toEqual([
    ...(ready < 900 ? [['wait', 900]] : []),
    ['wait', 905],
    ['run', 1_000],
  ]);
  expect(ready).toBeGreaterThanOrEqual(400);
  expect(ticksOf(1_000)).toEqual([0, 200, 400, 600, 800, 1_000]);
  expect(ticksOf(9 * 86_400_000).length).toBeLessThanOrEqual(9);
});

test('two runs differ first where the earliest of their ends differ', () => {
  const here = ended(100, 300, 350, 500);
  const there = ended(100, 250, 700, null).map((row) => (row.name === 'join' ? { ...row, state: 'failed' } : row));
  const { tasks, divergence } = compareRows(here, there);
  expect(divergence).toEqual({ name: 'join', state: 'running', otherState: 'failed' });
  expect(tasks[0]?.name).toBe('join');
  expect(compareRows(here, here).divergence).toBeNull();
});
