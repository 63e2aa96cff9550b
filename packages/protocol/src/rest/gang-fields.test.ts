import { describe, expect, test } from 'vitest';
import type { Problem, SignalboxError } from '../errors.ts';
import { toDagSpec } from './dag-spec.ts';

const dag = (task: object, more: object = {}) => ({
  name: 'train',
  tasks: [{ name: 'fit', run: './fit.sh', ...task }],
  ...more,
});

function problemsOf(input: unknown): Problem[] {
  try {
    toDagSpec(input);
  } catch (error) {
    return (error as SignalboxError).details['problems'] as Problem[];
  }
  return [];
}

describe('gang', () => {
  test('makes a map over the ranks, and asks for places together', () => {
    const { spec } = toDagSpec(dag({ gang: 3, resources: { gpu: 1 } }));
    expect(spec.groups).toEqual([
      { name: 'fit', parent: null, map: { over: [{ from: 'list', length: 3, items: [0, 1, 2] }], mode: 'product' } },
    ]);
    expect(spec.tasks[0]).toMatchObject({ group: 0, placement: { resources: { gpu: 1 }, gang: { size: 3 } } });
  });

  test('may let members share a worker', () => {
    const { spec } = toDagSpec(dag({ gang: { size: 2, share: true } }));
    expect(spec.tasks[0]?.placement).toEqual({ gang: { size: 2, share: true } });
  });

  test('in a group with a map is a gang for each item', () => {
    const { spec } = toDagSpec(dag({ gang: 2, group: 'each' }, { groups: [{ name: 'each', map: ['a', 'b'] }] }));
    expect(spec.groups?.map(({ name, parent }) => [name, parent])).toEqual([
      ['each', null],
      ['fit', 0],
    ]);
  });

  test.each([
    ['one member', { gang: 1 }, {}, 'tasks[0].gang', '2'],
    ['a map', { gang: 2, map: [1] }, {}, 'tasks[0].gang', "can't be combined with map"],
    ['speculate', { gang: 2, speculate: true }, {}, 'tasks[0].gang', "can't be combined with speculate"],
    ['a teardown', { gang: 2, teardown: true }, {}, 'tasks[0].gang', "can't be combined with teardown"],
    [
      'share and exclusive',
      { gang: { size: 2, share: true }, exclusive: true },
      {},
      'tasks[0].gang.share',
      'exclusive',
    ],
    ['a smaller maxActive', { gang: 3, maxActive: 2 }, {}, 'tasks[0].gang', 'maxActive allows 2 at a time'],
    ['a smaller maxActiveTasks', { gang: 3 }, { maxActiveTasks: 2 }, 'tasks[0].gang', 'could never begin'],
    ['a smaller maxActiveTasksPerRun', { gang: 3 }, { maxActiveTasksPerRun: 2 }, 'tasks[0].gang', 'could never begin'],
    ['a slower rate', { gang: 3, rate: { limit: 2, per: '1m' } }, {}, 'tasks[0].gang', 'rate allows 2 starts'],
  ])('with %s is refused', (_, task, more, path, message) => {
    const problems = problemsOf(dag(task, more));
    expect(problems.map((problem) => problem.path)).toContain(path);
    expect(problems.map((problem) => problem.message).join('\n')).toContain(message);
  });
});
