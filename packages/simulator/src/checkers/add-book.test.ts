import type { AddedTask, DagSpec, Fence, TaskNo, TaskSpec } from '@signalbox/engine';
import { naiveStates } from '@signalbox/engine/testing';
import { expect, test } from 'vitest';
import { definitionWith } from './add-book.ts';

test('a task that was added opens no way from a branch to a task of the dag (I31)', () => {
  const task = (name: string, needs: number[], more: Partial<TaskSpec> = {}) =>
    ({ name, handler: 'quick', needs, ...more }) as TaskSpec;
  const deployed = {
    tasks: [task('choose', [], { branch: true, adds: true }), task('arm', [0]), task('join', [0])],
    templates: [task('part', [])],
  } as unknown as DagSpec;
  const part: AddedTask = {
    ...{ no: 3 as TaskNo, by: 0 as TaskNo, fence: 1 as Fence, name: 'part', template: 0, inputs: null },
    ...{ needs: [0, 1], before: [2], isDropped: false },
  };
  const ended = new Map([
    [0, { state: 'succeeded', output: 'arm' }],
    [1, { state: 'succeeded', output: null }],
  ] as const);
  const spec = definitionWith(deployed, new Map([[3, part]]));
  // `part` comes behind the chosen `arm`, and `join` waits for it; but it may be dropped again.
  expect(naiveStates(spec, ended)).toEqual(['succeeded', 'succeeded', 'skipped', 'ready']);
});
