import { expect, test } from 'vitest';
import { dag } from '../dag/dag.ts';
import type { HandlerContext } from '../handler.ts';
import { runTask, testRun } from './index.ts';

const grow = dag('grow', { maxAddedTasks: 4 }, ({ task, template }) => {
  const load = template('load', ({ inputs }: HandlerContext<{ file: string }>) => inputs.file.length);
  template('shell', { run: './load.sh' });
  const plan = task('plan', { adds: true, retries: { maxAttempts: 2 } }, async ({ addTasks, attempt }) => {
    await addTasks([
      { name: 'a', template: load, inputs: { file: 'a.csv' }, before: [sum] },
      { name: `b-${attempt}`, template: 'shell', needs: ['a'], before: ['sum'] },
    ]);
    if (attempt === 1) throw new Error('not yet');
  });
  const sum = task('sum', { needs: [plan] }, ({ upstream }) => upstream);
});

test('what a task adds runs in a test as well; a stub stands in for a template, or for one task of it', async () => {
  const run = await testRun(grow, { stubs: { shell: () => 'of the template' } });
  expect(run.outcome).toBe('succeeded');
  expect(run.tasks.map(({ name, state }) => [name, state])).toEqual([
    ['plan', 'succeeded'],
    ['sum', 'succeeded'],
    ['a', 'succeeded'],
    ['b-1', 'skipped'],
    ['b-2', 'succeeded'],
  ]);
  expect(run.task('sum').output).toEqual({ plan: null, a: 5, 'b-2': 'of the template' });
  const other = await testRun(grow, { stubs: { shell: () => 1, 'b-2': () => 'its own' } });
  expect(other.task('b-2').output).toBe('its own');
});

test('what can not be added fails the task for good', async () => {
  const wrong = dag('wrong', ({ task, template }) => {
    template('load', () => 1);
    task('plan', { adds: true, retries: { maxAttempts: 3 } }, ({ addTasks }) =>
      addTasks([{ name: 'plan', template: 'load' }]),
    );
  });
  const run = await testRun(wrong);
  expect(run.task('plan')).toMatchObject({ state: 'failed' });
  expect(run.task('plan').attempts).toHaveLength(1);
  expect(String(run.task('plan').attempts[0]?.error)).toContain('has a task plan already');
});

test('by itself a function tells what it would add, and a template runs', async () => {
  const added: unknown[] = [];
  await runTask(grow, 'plan', { attempt: 2, onAddTasks: (tasks) => added.push(...tasks) });
  expect(added).toMatchObject([
    { name: 'a', template: 'load', before: ['sum'] },
    { name: 'b-2', needs: ['a'] },
  ]);
  expect(await runTask(grow, 'load', { inputs: { file: 'four' } })).toBe(4);
});
