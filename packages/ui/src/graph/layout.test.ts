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
