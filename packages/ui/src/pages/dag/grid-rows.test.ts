import { TASK_STATES } from '@signalbox/protocol/words';
import { expect, test } from 'vitest';
import { gridOf, moveIn, summaryOf } from './grid-rows.ts';

const placesOf = (...states: string[]) => states.map((state) => (TASK_STATES as readonly string[]).indexOf(state));
const run = (shape: number, ...states: string[]) => ({ shape, states: placesOf(...states), instances: {} });

test('rows follow the newest run; tasks that only older runs have come after them', () => {
  const shapes = [
    { names: ['extract', 'load'], role: ['task' as const, 'task' as const] },
    { names: ['gone', 'load'], role: ['task' as const, 'task' as const] },
  ];
  const runs = [run(0, 'running', 'blocked'), run(1, 'failed', 'succeeded')];
  expect(gridOf({ runs, shapes })).toEqual([
    { name: 'extract', states: [null, 'running'] },
    { name: 'load', states: ['succeeded', 'blocked'] },
    { name: 'gone', states: ['failed', null] },
  ]);
});

test('a row says in words what it shows', () => {
  const row = { name: 'load', states: ['succeeded', 'failed', null, 'succeeded'] };
  expect(summaryOf(row)).toBe('2 succeeded, 1 failed, 1 not in the run');
});

test.each([
  [null, 'ArrowDown', { row: 0, column: 4 }],
  [{ row: 0, column: 4 }, 'ArrowRight', { row: 0, column: 4 }],
  [{ row: 0, column: 4 }, 'ArrowLeft', { row: 0, column: 3 }],
  [{ row: 9, column: 4 }, 'ArrowDown', { row: 9, column: 4 }],
  [{ row: 3, column: 4 }, 'a', null],
])('from %j %s leads to %j', (place, key, expected) => {
  expect(moveIn(place, key, { rows: 10, columns: 5 })).toEqual(expected);
});
