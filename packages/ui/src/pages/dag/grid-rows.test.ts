import { expect, test } from 'vitest';
import { gridOf, moveIn } from './grid-rows.ts';

test('rows follow the newest run; tasks that only older runs have come after them', () => {
  const old = [
    { name: 'gone', state: 'failed' },
    { name: 'load', state: 'succeeded' },
  ];
  const now = [
    { name: 'extract', state: 'running' },
    { name: 'load', state: 'blocked' },
  ];
  expect(gridOf([old, null, now])).toEqual([
    { name: 'extract', states: [null, null, 'running'] },
    { name: 'load', states: ['succeeded', null, 'blocked'] },
    { name: 'gone', states: ['failed', null, null] },
  ]);
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
