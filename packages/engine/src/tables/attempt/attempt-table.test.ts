import { expect, test } from 'vitest';
import type { AttemptSlot } from '../../model/ids.ts';
import { AttemptTable, NO_WORKER } from './attempt-table.ts';

test('a row that was given back is used again before the table grows (I73)', () => {
  const table = new AttemptTable();
  const rows = Array.from({ length: 100 }, () => table.allocate());
  expect(new Set(rows).size).toBe(100);
  for (const row of rows) table.release(row);
  expect(table.count).toBe(0);
  const again = Array.from({ length: 100 }, () => table.allocate());
  expect(new Set(again)).toEqual(new Set(rows));
  expect(table.task.length).toBe(128);
  expect(table.count).toBe(100);
});

test('a row that was given back keeps neither worker nor watch nor stop of its attempt', () => {
  const table = new AttemptTable();
  const row: AttemptSlot = table.allocate();
  table.worker[row] = 3;
  table.watches.set(row, { progressAt: 5 });
  table.stopping.set(row, { outcome: 'cancelled', error: null });
  table.release(row);
  expect([table.worker[row], table.watches.size, table.stopping.size]).toEqual([NO_WORKER, 0, 0]);
});
