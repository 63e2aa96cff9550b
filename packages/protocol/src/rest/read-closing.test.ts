import { describe, expect, test } from 'vitest';
import { SignalboxError } from '../errors.ts';
import type { DagDefinition } from './dag-definition.ts';
import { toDagSpec } from './dag-spec.ts';

type Task = DagDefinition['tasks'][number];
const job = (name: string, more: Partial<Task> = {}): Task => ({ name, handler: 'h', ...more });
const specOf = (tasks: Task[], more: Partial<DagDefinition> = {}) => toDagSpec({ name: 'd', tasks, ...more }).spec;
const named = (tasks: Task[], more: Partial<DagDefinition> = {}) => {
  const { tasks: all } = specOf(tasks, more);
  return Object.fromEntries(all.map(({ name, needs }) => [name, needs.map((no) => all[no]?.name)]));
};

function problemsOf(tasks: Task[], more: Partial<DagDefinition> = {}) {
  try {
    specOf(tasks, more);
  } catch (error) {
    return (error as SignalboxError).body().problems;
  }
  throw new Error('The definition was taken.');
}

describe('a teardown', () => {
  const work = [job('make'), job('a', { needs: ['make'] }), job('b', { needs: ['a'] }), job('c', { needs: ['make'] })];

  test('makes setups of the tasks that it names, and waits for all behind them', () => {
    const spec = specOf([...work, job('drop', { teardown: 'make' })]);
    expect(spec.tasks[0]).toMatchObject({ setup: true });
    expect(spec.tasks[4]).toMatchObject({ teardown: [0], needs: [0, 1, 2, 3] });
  });

  test('that says what it needs waits for what lies between', () => {
    expect(named([...work, job('drop', { teardown: ['make'], needs: ['b'] })]).drop).toEqual(['make', 'a', 'b']);
  });

  test('comes after those within it', () => {
    const inner = [job('inner', { needs: ['make'] }), job('use', { needs: ['inner'] })];
    const tasks = [...work, ...inner, job('drop', { teardown: 'make' }), job('drop-inner', { teardown: 'inner' })];
    expect(named(tasks).drop).toContain('drop-inner');
    expect(named(tasks)['drop-inner']).toEqual(['inner', 'use']);
  });

  test.each<[string, Task[], string, RegExp]>([
    ['of a task that is not there', [job('drop', { teardown: 'make' })], 'tasks[0].teardown', /no task make/],
    ['of itself', [job('drop', { teardown: 'drop' })], 'tasks[0].teardown', /itself/],
    [
      'with a rule',
      [job('make'), job('drop', { teardown: 'make', rule: 'all_done' })],
      'tasks[1].rule',
      /cannot be combined with teardown/,
    ],
    [
      'that an ordinary task needs',
      [job('make'), job('drop', { teardown: 'make' }), job('next', { needs: ['drop'] })],
      'tasks[2].needs',
      /drop is a teardown/,
    ],
    ['of nothing', [job('a'), job('drop', { teardown: true })], 'tasks[1].teardown', /nothing to wait for/],
    [
      'of a teardown',
      [job('make'), job('drop', { teardown: 'make' }), job('again', { teardown: 'drop' })],
      'tasks[2].teardown',
      /is a teardown itself/,
    ],
    [
      'with a map',
      [job('make'), job('drop', { teardown: 'make', map: [1, 2] })],
      'tasks[1].teardown',
      /no map of its own/,
    ],
  ])('%s is refused, with its place', (_what, tasks, path, message) => {
    expect(problemsOf(tasks)).toEqual([{ path, message: expect.stringMatching(message) }]);
  });

  const groups = [{ name: 'item', map: [1, 2] }];
  const item = [
    job('make', { group: 'item' }),
    job('use', { group: 'item', needs: ['make'] }),
    job('sum', { needs: ['use'] }),
  ];

  test('in a mapped group is of its item: it does not wait for what comes behind all of them', () => {
    const spec = specOf([...item, job('drop', { group: 'item', teardown: 'make' })], { groups });
    expect(spec.tasks[3]).toMatchObject({ group: 0, teardown: [0], needs: [0, 1] });
    const outside = specOf([...item, job('drop', { teardown: 'make' })], { groups });
    expect(outside.tasks[3]).toMatchObject({ teardown: [0], needs: [0, 1, 2] });
  });

  test('waits for what is mapped over the output of its setup', () => {
    const tasks = [job('make'), job('use', { map: '${{ tasks.make.output }}' }), job('drop', { teardown: 'make' })];
    expect(named(tasks).drop).toEqual(['make', 'use']);
  });

  test('in a mapped group does not take down what was made once for all items, nor stand there alone', () => {
    const drop = job('drop', { group: 'item', teardown: 'make' });
    expect(problemsOf([job('make'), job('use', { group: 'item', needs: ['make'] }), drop], { groups })).toEqual([
      { path: 'tasks[2].teardown', message: expect.stringMatching(/make is created once/) },
    ]);
    const alone = job('drop', { group: 'item', teardown: true, needs: ['make'] });
    expect(problemsOf([job('make'), alone], { groups })).toEqual([
      { path: 'tasks[1].teardown', message: expect.stringMatching(/is alone in its map/) },
    ]);
  });
});

describe('an undo', () => {
  test('is a task behind the others, with the inputs of the one that it undoes, and its output', () => {
    const charge = job('charge', {
      inputs: { order: '${{ params.order }}' },
      queue: 'money',
      undo: { handler: 'refund', inputs: { why: 'it failed' }, retries: { maxAttempts: 5 } },
    });
    const spec = specOf([charge], { compensate: true });
    expect(spec).toMatchObject({ compensate: true });
    expect(spec.tasks[1]).toMatchObject({
      name: 'charge:undo',
      handler: 'refund',
      undoes: 0,
      needs: [],
      queue: 'money',
      retry: { maxAttempts: 5 },
      work: {
        inputs: {
          order: { from: 'params', path: ['order'] },
          output: { from: 'task', task: 'charge', path: [] },
          why: { from: 'value', value: 'it failed' },
        },
      },
    });
  });

  test('needs a dag that compensates, and the other way round', () => {
    expect(problemsOf([job('a', { undo: { handler: 'u' } })])).toMatchObject([{ path: 'tasks[0].undo' }]);
    expect(problemsOf([job('a')], { compensate: true })).toMatchObject([{ path: 'compensate' }]);
  });

  test('sees what its task has seen, and no more', () => {
    const tasks = [
      job('a'),
      job('b'),
      job('c', { needs: ['a'], undo: { handler: 'u', inputs: { x: '${{ tasks.b.output }}' } } }),
    ];
    expect(problemsOf(tasks, { compensate: true })).toEqual([
      { path: 'tasks[2].undo.inputs.x', message: 'does not see the output of b; it sees c, a' },
    ]);
  });

  test('that does not say what it does is refused at its own place', () => {
    expect(problemsOf([job('a', { undo: {} })], { compensate: true })).toMatchObject([{ path: 'tasks[0].undo' }]);
  });
});

describe('hooks', () => {
  test('for what is slow ask for a soft timeout, of the task or of the dag', () => {
    const hooks = { onSlow: { handler: 'tell' }, onRetry: { handler: 'tell' } };
    const spec = specOf([job('load', { hooks, softTimeout: '1m' })], { hooks, softTimeout: '1h' });
    expect(spec.tasks.map(({ name, hook }) => [name, hook])).toEqual([
      ['load', undefined],
      ['load:on_retry', { of: 0, on: 'retry' }],
      ['load:on_slow', { of: 0, on: 'slow' }],
      ['run:on_retry', { of: null, on: 'retry' }],
      ['run:on_slow', { of: null, on: 'slow' }],
    ]);
    expect(problemsOf([job('load', { hooks })], { hooks })).toMatchObject([
      { path: 'tasks[0].hooks.onSlow', message: expect.stringMatching(/would never run: give the task a softTimeout/) },
      { path: 'hooks.onSlow', message: expect.stringMatching(/would never run: give the dag a softTimeout/) },
    ]);
  });

  test('are tasks named after what they belong to, and are told what happened', () => {
    const spec = specOf([job('load', { hooks: { before: { handler: 'b' }, onFailure: { run: 'page' } } })], {
      hooks: { after: { handler: 'tidy' } },
    });
    expect(spec.tasks.map(({ name, hook }) => [name, hook])).toEqual([
      ['load', undefined],
      ['load:before', { of: 0, on: 'before' }],
      ['load:on_failure', { of: 0, on: 'failure' }],
      ['run:after', { of: null, on: 'after' }],
    ]);
    expect(spec.tasks[2]?.work?.inputs).toMatchObject({ error: { from: 'task', task: '@event', path: ['error'] } });
  });

  test('of a task named run do not get the names of those of the run', () => {
    const hooks = { after: { handler: 'h' } };
    expect(problemsOf([job('run', { hooks })], { hooks })).toMatchObject([{ path: 'hooks' }]);
  });

  test('and undos of a mapped task are in its map, and know the item', () => {
    const after = { handler: 'h', inputs: { no: '${{ item.no }}' } };
    const mapped = job('a', { map: [{ no: 1 }], hooks: { after }, undo: { handler: 'u' } });
    const spec = specOf([mapped], { compensate: true, hooks: { after: { handler: 'h' } } });
    expect(spec.tasks.map(({ name, group }) => [name, group])).toEqual([
      ['a', 0],
      ['a:undo', 0],
      ['a:after', 0],
      ['run:after', undefined],
    ]);
    expect(spec.tasks[2]?.work?.inputs).toMatchObject({ no: { from: 'item', path: ['no'] } });
  });
});
