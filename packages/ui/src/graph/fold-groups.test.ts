import { expect, test } from 'vitest';
import { foldGroups, outermost } from './fold-groups.ts';

test('tasks of a group are one node, with the edges of all of them, once each', () => {
  // a -> b1, b2 (group g) -> c
  const folded = foldGroups([null, 'g', 'g', null], [0, 1, 0, 2, 1, 2, 1, 3, 2, 3]);
  expect(folded).toEqual({
    members: [[0], [1, 2], [3]],
    groups: [null, 'g', null],
    edges: [0, 1, 1, 2],
    nodeOf: [0, 1, 1, 2],
  });
});

test('the outermost group counts; an open one and a mapped task by itself are drawn as they are', () => {
  const groups = [
    { name: 'outer', parent: null, mapped: false },
    { name: 'inner', parent: 0, mapped: true },
    { name: 'each', parent: null, mapped: true },
  ];
  const tasks = [0, 1, 1, 2, null];
  expect(outermost(groups, tasks, new Set())).toEqual(['outer', 'outer', 'outer', null, null]);
  expect(outermost(groups, tasks, new Set(['outer']))).toEqual([null, null, null, null, null]);
});
