import { expect, test } from 'vitest';
import { SignalboxError } from '../errors.ts';
import { toDagSpec } from './dag-spec.ts';

function problemsOf(second: object, more: object = {}): readonly string[] {
  const tasks = [
    { name: 'load', handler: 'h' },
    { name: 'mend', handler: 'h', ...second },
  ];
  try {
    const { spec } = toDagSpec({ name: 'd', tasks, ...more });
    expect(spec.tasks).toMatchObject([{ tellsError: true }, { needs: [0] }]);
    return [];
  } catch (error) {
    if (!(error instanceof SignalboxError)) throw error;
    return (error.details.problems ?? []).map(({ path, message }) => `${path}: ${message}`);
  }
}

test('a condition may look at why a task failed, and needs that task', () => {
  expect(problemsOf({ rule: 'one_failed', when: "tasks.load.error.class == 'timeout'" })).toEqual([]);
  expect(problemsOf({ rule: 'all_done', when: "tasks.load.error.code in ['exit:3', 'http:503']" })).toEqual([]);
  expect(problemsOf({ when: 'defined(tasks.load.error.code)' }, { onFailure: 'skip_failed' })).toEqual([]);
});

test.each([
  [
    { rule: 'one_failed', when: "tasks.load.error.class == 'timeot'" },
    /"timeot" is no class of an error: there are transient, permanent/,
  ],
  [{ rule: 'one_failed', when: "tasks.load.error.class in ['lost', 'no']" }, /"no" is no class/],
  [{ rule: 'one_failed', when: '!(params.a || 3 == tasks.load.error.class)' }, /3 is no class/],
  [{ rule: 'one_failed', when: 'tasks.load.error.message' }, /an error has class and code/],
  [{ rule: 'one_failed', when: 'tasks.load.error' }, /an error has class and code/],
  [{ rule: 'one_failed', when: 'tasks.gone.error.class' }, /there is no task gone/],
  [{ rule: 'one_failed', when: 'tasks.mend.error.class' }, /needs itself/],
  [{ when: "tasks.load.error.class == 'lost'" }, /load has not failed when the rule all_success lets this task run/],
])('%j is refused when the dag is deployed', (second, message) => {
  const problems = problemsOf(second);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(message);
  expect(problems[0]).toMatch(/^tasks\[1\]\.when: /);
});
