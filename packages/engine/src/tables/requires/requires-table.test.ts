import { expect, test } from 'vitest';
import type { DagId, RunRow } from '../../model/ids.ts';
import { RequiresTable } from './requires-table.ts';

const row = (no: number) => no as RunRow;
const dagId = 7 as DagId;

test('runs are looked at when they are due, and the next look is never late (I53)', () => {
  const table = new RequiresTable();
  expect(table.next()).toBeNull();
  table.add(row(1), { dagId, lookAt: 10, endsAt: 500 });
  table.add(row(2), { dagId, lookAt: 20, endsAt: 35 });
  expect(table.next()).toBe(10);
  expect(table.due(9, 5)).toEqual([]);
  expect(table.due(25, 5)).toEqual([1, 2]);
  table.lookAgain(row(1), 25, 30);
  table.lookAgain(row(2), 25, 30);
  expect(table.due(34, 5)).toEqual([]);
  expect(table.next(), 'the end of the second is before its next look').toBe(35);
  expect(table.due(35, 5)).toEqual([2]);
  table.remove(row(2));
  expect(table.due(40, 5)).toEqual([]);
  expect(table.next()).toBe(55);
});

test('what did not fit into one look is due at once', () => {
  const table = new RequiresTable();
  for (const no of [1, 2, 3]) table.add(row(no), { dagId, lookAt: 10, endsAt: 500 });
  expect(table.due(10, 2)).toEqual([1, 2]);
  for (const no of [1, 2]) table.lookAgain(row(no), 10, 30);
  expect(table.next()).toBe(10);
  expect(table.due(10, 2)).toEqual([3]);
});

test('it tells of which dags runs wait', () => {
  const table = new RequiresTable();
  const other = 8 as DagId;
  table.add(row(1), { dagId, lookAt: 10, endsAt: 500 });
  table.add(row(1), { dagId, lookAt: 20, endsAt: 500 });
  table.add(row(2), { dagId, lookAt: 10, endsAt: 500 });
  table.add(row(3), { dagId: other, lookAt: 10, endsAt: 500 });
  for (const no of [1, 1, 3, 4]) table.remove(row(no));
  expect([table.isUsedBy(dagId), table.isUsedBy(other)]).toEqual([true, false]);
  table.remove(row(2));
  expect([table.isUsedBy(dagId), table.isUsed]).toEqual([false, false]);
});
