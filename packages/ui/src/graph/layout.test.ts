import { expect, test } from 'vitest';
import { layOut } from './layout.ts';

test('each node is in the column after the last one that it needs', () => {
  const { column, columns } = layOut(5, [0, 1, 1, 2, 0, 2, 3, 2]);
  expect([...column]).toEqual([0, 1, 2, 0, 0]);
  expect(columns).toBe(3);
});

test('no two nodes are at one place', () => {
  const edges: number[] = [];
  for (let node = 10; node < 200; node++) edges.push(node % 10, node, (node * 7) % node, node);
  const { column, row } = layOut(200, edges);
  expect(new Set([...column].map((at, node) => `${at} ${row[node]}`)).size).toBe(200);
});

test('an edge over several columns passes beside the nodes between its ends', () => {
  // 0 → 1 → 2 → 3, and 0 → 3 over both.
  const edges = [0, 1, 1, 2, 2, 3, 0, 3];
  const { row, bends } = layOut(4, edges);
  const crossed = bends.get(6) ?? [];
  expect([...bends.keys()]).toEqual([6]);
  expect(crossed).toHaveLength(2);
  expect(Math.abs((crossed[0] as number) - (row[1] as number))).toBeGreaterThanOrEqual(1);
  expect(Math.abs((crossed[1] as number) - (row[2] as number))).toBeGreaterThanOrEqual(1);
});

test('a rank of thousands becomes a block, and still comes after what it needs', () => {
  const edges = Array.from({ length: 5_000 }, (_, at) => [0, at + 1, at + 1, 5_001]).flat();
  const { column, row, rows, columns } = layOut(5_002, edges);
  expect(rows).toBeLessThan(200);
  expect(columns).toBeLessThan(100);
  const block = [...column].slice(1, 5_001);
  expect(Math.min(...block)).toBeGreaterThan(column[0] as number);
  expect(Math.max(...block)).toBeLessThan(column[5_001] as number);
  expect(new Set([...column].map((at, node) => `${at} ${row[node]}`)).size).toBe(5_002);
});
