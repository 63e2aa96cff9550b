import { expect, test } from 'vitest';
import type { DagSpec } from '../../model/dag/spec.ts';
import { readTasks } from '../../propagate/read-tasks.ts';
import { TaskNames } from './task-names.ts';

const task = (name: string, group?: number) => ({
  name,
  handler: 'h',
  queue: 'default',
  needs: [],
  retry: { maxAttempts: 1, minMs: 0, baseMs: 1, factor: 1, maxMs: 1, maxLost: 1 },
  timeoutMs: null,
  ...(group === undefined ? {} : { group }),
});
const over = [{ from: 'list' as const, length: 2 }];
const spec = {
  tasks: [task('plain'), task('outer', 0), task('inner', 1)],
  groups: [
    { name: 'each', parent: null, map: { over, mode: 'product' } },
    { name: 'inner', parent: 0, map: { over, mode: 'product' } },
  ],
  priority: 'normal',
  maxActiveRuns: null,
  maxActiveTasks: null,
  schedule: null,
} as unknown as DagSpec;
/** Both instances of the outer map; one of them has its inner map, of which one instance is there. */
const maps = [
  { group: 0, scope: null, firstNo: 3, total: 2, unfolded: 2, isRemoved: false },
  { group: 1, scope: 5, firstNo: 7, total: 2, unfolded: 1, isRemoved: false },
];

test('names lead to numbers, and numbers back to names', () => {
  const names = new TaskNames(spec, maps);
  const all = [...names.from(0)];
  expect(all).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(all.map((no) => names.nameOf(no))).toEqual([
    'plain',
    'outer',
    'inner',
    'outer[0]',
    'inner[0]',
    'outer[1]',
    'inner[1]',
    'inner[1][0]',
  ]);
  for (const no of all) expect(names.numberOf(names.nameOf(no) ?? '')).toBe(no);
  expect(names.placesOf(7)).toEqual([
    { group: 'each', index: 1 },
    { group: 'inner', index: 0 },
  ]);
  expect([...names.from(6)]).toEqual([6, 7]);
});

test.each(['none', 'plain[0]', 'outer[2]', 'inner[0][0]', 'inner[1][1]', 'outer[0][0]', 'outer[', '[0]', ''])(
  '%j is no task',
  (name) => {
    expect(new TaskNames(spec, maps).numberOf(name)).toBeNull();
  },
);

test('what a map has lost is no task any more', () => {
  const names = new TaskNames(spec, [{ ...maps[0]!, isRemoved: true }, maps[1]!]);
  expect([names.nameOf(3), names.nameOf(7), names.numberOf('outer[0]')]).toEqual([null, null, null]);
});

test('groups and counts are of the instances, those that are not there yet included', () => {
  const names = new TaskNames(spec, maps);
  expect([0, 1, 2, 3, 7].map((no) => [names.isIn(no, 'each'), names.isIn(no, 'inner')])).toEqual([
    [false, false],
    [true, false],
    [true, true],
    [true, false],
    [true, true],
  ]);
  const row = { taskNo: 7, attemptNo: 1, state: 'succeeded', facts: null } as never;
  const run = { phase: 'open', outcome: null, isForced: false, facts: null, maps } as const;
  const read = readTasks(spec, [row], run);
  expect(read.stateOf(7)).toBe('succeeded');
  expect(read.instances.get(2)).toEqual({ total: 2, states: { succeeded: 1, blocked: 1 } });
  expect(read.instances.get(1)).toMatchObject({ total: 2 });
  expect(read.instances.get(0)).toBeUndefined();
});
