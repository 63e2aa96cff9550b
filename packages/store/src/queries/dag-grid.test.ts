import { expect, test } from 'vitest';
import { howManyFit } from './dag-grid.ts';

test.each([
  [[], 0],
  [[4, 4, 2], 3],
  [[4, 4, 3], 2],
  [[11, 1], 1],
])('of runs with %j tasks %i fit into an answer of 10', (tasks, fit) => {
  expect(howManyFit(tasks, 10)).toBe(fit);
});
