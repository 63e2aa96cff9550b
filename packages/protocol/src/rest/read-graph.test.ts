import { expect, test } from 'vitest';
import { SignalboxError } from '../errors.ts';
import type { DagDefinition } from './dag-definition.ts';
import { contentHash, toDagSpec } from './dag-spec.ts';

type Task = DagDefinition['tasks'][number];
const job = (name: string, more: Partial<Task> = {}): Task => ({ name, handler: 'h', ...more });
const specOf = (tasks: Task[], more: Partial<DagDefinition> = {}) => toDagSpec({ name: 'd', tasks, ...more }).spec;

function problemsOf(tasks: Task[], more: Partial<DagDefinition> = {}) {
  try {
    specOf(tasks, more);
  } catch (error) {
    return (error as SignalboxError).body().problems;
  }
  throw new Error('The definition was taken.');
}

test('a condition needs what it looks at, and each place that it looks at is taken out once', () => {
  const when = '${{ tasks.find.output.n > 1 && tasks.find.output.n < 9 && tasks.find.output.kind == params.kind }}';
  const spec = specOf([job('load', { when }), job('find'), job('other', { when: 'params.kind' })]);
  expect(spec.tasks[0]).toMatchObject({ needs: [1], when: { text: when } });
  expect(spec.tasks[1]?.facts).toEqual([['n'], ['kind']]);
  expect(spec.paramFacts).toEqual([['kind']]);
  expect(spec.tasks[0]?.when?.expression).toMatchObject({
    op: 'and',
    of: [
      { op: 'gt', left: { op: 'task', task: 1, fact: 0 } },
      { op: 'lt', left: { op: 'task', task: 1, fact: 0 } },
      { op: 'eq', left: { op: 'task', task: 1, fact: 1 }, right: { op: 'params', fact: 0 } },
    ],
  });
});

test('what is said as it is by default changes no version', () => {
  const [plain, said] = [
    specOf([job('a')]),
    specOf([job('a', { rule: 'all_success', branch: false, shortCircuit: false, setup: false })], {
      onFailure: 'continue',
    }),
  ];
  expect(contentHash(said)).toBe(contentHash(plain));
  expect(specOf([job('a', { shortCircuit: true })], { onFailure: 'fail_fast' })).toMatchObject({
    onFailure: 'fail_fast',
    tasks: [{ shortCircuit: 'next' }],
  });
});

test.each<[string, Task[], string, RegExp]>([
  ['a condition that can not be read', [job('a', { when: 'params.a ==' })], 'tasks[0].when', /column 12/],
  ['a condition over a task that is not there', [job('a', { when: 'tasks.b.output' })], 'tasks[0].when', /no task b/],
  ['a condition over itself', [job('a', { when: 'tasks.a.output' })], 'tasks[0].when', /itself/],
  [
    'a circle through a condition',
    [job('a', { when: 'tasks.b.output' }), job('b', { needs: ['a'] })],
    'tasks[0].needs',
    /cycle/,
  ],
  ['a rule that is none', [job('a', { rule: 'some' as never })], 'tasks[0].rule', /all_success/],
  ['a branch that nothing needs', [job('a', { branch: true })], 'tasks[0].branch', /nothing to choose/],
  [
    'a branch that is a short circuit',
    [job('a', { branch: true, shortCircuit: 'all' }), job('b', { needs: ['a'] })],
    'tasks[0].branch',
    /shortCircuit/,
  ],
  [
    'too many places',
    [
      job('a'),
      job('b', { when: Array.from({ length: 60 }, (_, i) => `tasks.a.output.f${i}`).join('||') }),
      job('c', { when: Array.from({ length: 60 }, (_, i) => `tasks.a.output.g${i}`).join('||') }),
    ],
    'tasks[2].when',
    /more than 100 places/,
  ],
  [
    'too many that close all behind them',
    Array.from({ length: 101 }, (_, i) => job(`t${i}`, { shortCircuit: 'all' })),
    'tasks[100].shortCircuit',
    /100 are allowed/,
  ],
])('%s is refused at its place (I38)', (_, tasks, path, message) => {
  expect(problemsOf(tasks)).toMatchObject([{ path, message: expect.stringMatching(message) }]);
});
