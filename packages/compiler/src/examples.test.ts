/** Every example is compiled as a user's folder would be, and run: its functions out of the bundle, its processes for real. */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestRun } from '@signalbox/sdk/testing';
import { expect, test } from 'vitest';
import { compileFolder } from './compile.ts';
import type { CompiledDag } from './compiled.ts';
import { tryCompiled } from './try-compiled.testing.ts';

const EXAMPLES = fileURLToPath(new URL('../../../examples/', import.meta.url));
const run = promisify(execFile);

async function tryExample(name: string, params: unknown = null): Promise<TestRun> {
  const { dags, problems } = await compileFolder({ folder: EXAMPLES });
  expect(problems).toEqual([]);
  return tryCompiled(dags.find((dag) => dag.name === name) as CompiledDag, params, dags);
}

test('the folder has these dags, and all compile', async () => {
  const { dags, problems } = await compileFolder({ folder: EXAMPLES });
  expect(problems).toEqual([]);
  const names = ['branch', 'broken', 'files', 'flaky', 'heartbeat', 'hello', 'hello-yaml', 'resume', 'word-count'];
  const calls = ['load-region', 'regions'];
  const policies = ['continue', 'fail_fast', 'skip_failed'].map((policy) => `one-failure-${policy}`);
  const closing = ['saga', 'teardown'];
  const failures = ['breaker', 'poison'];
  const maps = ['nested-map', 'partial-failure', 'add-tasks', 'speculative'];
  expect(dags.map(({ name }) => name).sort()).toEqual(
    [...names, ...calls, ...policies, ...closing, ...failures, ...maps].sort(),
  );
});

test('their types are right', async () => {
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
  const args = [tsc, '--project', EXAMPLES, '--customConditions', 'source', '--erasableSyntaxOnly'];
  // Rejects when tsc can't be started, so that no compiler counts as no fault.
  const { code, stdout, stderr } = await run(process.execPath, args).then(
    (ended) => ({ ...ended, code: 0 }),
    (error: { code: unknown; stdout: string; stderr: string }) => error,
  );
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
});

test.each(['hello', 'hello-yaml'])('%s greets in capitals', async (name) => {
  const { outcome, tasks } = await tryExample(name, { name: 'Ada' });
  expect(outcome).toBe('succeeded');
  expect(tasks.map((task) => task.name)).toEqual(['greet', 'rest', 'shout']);
  expect(tasks.at(-1)?.output).toBe('HELLO, ADA!');
  expect((await tryExample(name)).task('shout').output).toBe('HELLO, WORLD!');
});

test('broken fails after log lines, and says what follows', async () => {
  const broken = await tryExample('broken');
  expect(broken.outcome).toBe('failed');
  expect(broken.tasks.map(({ name, state }) => [name, state])).toEqual([
    ['prepare', 'succeeded'],
    ['stumble', 'failed'],
    ['never', 'upstream_failed'],
  ]);
  expect(broken.task('stumble').attempts.length).toBe(3);
  expect(broken.task('stumble').log.length).toBe(3);
});

test('resume does each part once, whichever attempt does it', async () => {
  const resume = await tryExample('resume', { parts: 6 });
  expect(resume.task('copy').output).toEqual({ parts: 6, by: [1, 1, 2, 2, 3, 3] });
  const told = resume.task('copy').attempts.flatMap(({ progress }) => progress.map(({ note }) => note));
  expect(told).toEqual([1, 2, 3, 4, 5, 6].map((part) => `${part} of 6 parts`));
});

test('add-tasks has two tasks for each table that it finds, and waits for them', async () => {
  const added = await tryExample('add-tasks', { files: ['a.csv', 'long.csv', 'notes.txt'] });
  expect(added.outcome).toBe('succeeded');
  expect(added.tasks.map((task) => task.name)).toEqual([
    ...['plan', 'sum', 'load-a.csv', 'check-a.csv', 'load-long.csv', 'check-long.csv'],
  ]);
  expect(added.task('sum').output).toBe('a.csv'.length + 'long.csv'.length);
});

test.each([
  [null, 'succeeded', 'succeeded'],
  [{ fails: true }, 'failed', 'upstream_failed'],
])('teardown drops its database, with %j as well', async (params, outcome, report) => {
  const teardown = await tryExample('teardown', params);
  expect(teardown.outcome).toBe(outcome);
  expect(teardown.task('report').state).toBe(report);
  expect(teardown.task('drop-database').output).toMatch(/^dropped scratch_/);
});

test('saga undoes what it did, the newest first, and tells somebody', async () => {
  const saga = await tryExample('saga', { order: 7, inStock: false });
  expect(saga.outcome).toBe('failed');
  expect(saga.task('pay:undo').output).toBe('payment 7 is paid back');
  expect(saga.task('reserve:undo').output).toBe('seat 7 is free again');
  const endOf = (name: string) => saga.task(name).attempts.at(-1)?.endedAt.getTime() ?? 0;
  expect(endOf('pay:undo')).toBeLessThanOrEqual(endOf('reserve:undo'));
  expect(saga.task('run:on_failure').state).toBe('succeeded');
  const fine = await tryExample('saga', { order: 7, inStock: true });
  expect(fine.outcome).toBe('succeeded');
  expect(fine.task('pay:undo').state).toBe('skipped');
});

test('flaky succeeds at its third attempt', async () => {
  const flaky = await tryExample('flaky', { order: 7 });
  expect(flaky.task('receipt').output).toBe('order 7 was paid at attempt 3');
});

test('files counts files', async () => {
  const files = await tryExample('files');
  expect(files.outcome).toBe('succeeded');
  expect((files.task('count').output as { count: number }).count).toBeGreaterThan(3);
});

test.each([
  [20, { review: 'skipped', ship: 'succeeded', thank: 'skipped' }, ['on its way']],
  [500, { review: 'succeeded', ship: 'skipped', thank: 'succeeded' }, ['somebody looked at it']],
])('branch goes its way with %d', async (amount, states, told) => {
  const branch = await tryExample('branch', { amount });
  expect(branch.outcome).toBe('succeeded');
  expect(Object.fromEntries(branch.tasks.map(({ name, state }) => [name, state]))).toMatchObject(states);
  expect(branch.task('tell').output).toEqual(told);
});

test.each([
  ['continue', { staff: 'succeeded', report: 'upstream_failed', complain: 'succeeded' }],
  ['fail_fast', { staff: 'cancelled', report: 'upstream_failed', complain: 'cancelled' }],
  ['skip_failed', { staff: 'succeeded', report: 'succeeded', complain: 'succeeded' }],
])('one failure under %s', async (policy, states) => {
  const run = await tryExample(`one-failure-${policy}`);
  expect(run.outcome).toBe('failed');
  expect(Object.fromEntries(run.tasks.map(({ name, state }) => [name, state]))).toMatchObject(states);
  if (policy !== 'skip_failed') return;
  expect(run.task('report').output).toEqual({ sales: 12, stock: null, staff: 7, missing: ['stock'] });
});

test('poison is given up after three failures at once, unless the task says otherwise', async () => {
  const poison = await tryExample('poison');
  expect(poison.outcome).toBe('failed');
  expect([poison.task('parse').state, poison.task('parse').attempts.length]).toEqual(['failed', 3]);
  expect(poison.task('patient').output).toBe('there at attempt 5');
  expect((await tryExample('poison', { amount: '12.5' })).task('parse').output).toBe(12.5);
});

test('breaker holds the others back while one goes to see, and nobody uses up his attempts', async () => {
  const breaker = await tryExample('breaker');
  expect(breaker.outcome).toBe('succeeded');
  const attempts = breaker.tasks.filter(({ name }) => name !== 'sum').map((task) => task.attempts.length);
  // Twenty first ones that fail, two probes that fail, and twenty that succeed.
  expect(attempts.reduce((sum, count) => sum + count)).toBe(42);
  expect(attempts.filter((count) => count > 2).length).toBeLessThanOrEqual(2);
});

test('regions calls load-region for each, and sums up what those leave', async () => {
  const regions = await tryExample('regions', { day: '2026-02-03' });
  expect(regions.outcome).toBe('succeeded');
  expect(regions.task('north').output).toEqual({ load: { rows: 2 } });
  expect(regions.task('sum').output).toBe(4);
});

test('heartbeat is cheap', async () => {
  expect((await tryExample('heartbeat')).task('beat').output).toMatchObject({ uptime: expect.any(Number) });
});

test('word-count runs its scripts on the texts that go along', async () => {
  const { outcome, tasks } = await tryExample('word-count');
  expect([outcome, tasks.map(({ output }) => output)]).toEqual(['succeeded', [{ count: 3 }, 'found 3 times']]);
});

test('nested-map walks regions and shops, and gathers both', async () => {
  const nested = await tryExample('nested-map', { regions: ['north', 'south'] });
  expect(nested.outcome).toBe('succeeded');
  expect(nested.task('count[1][2]').output).toEqual({ region: 'south', shop: 'lecce', sales: 30 });
  expect(nested.task('report').output).toEqual({ shops: 5, totals: { north: 30, south: 60 } });
  const none = await tryExample('nested-map', { regions: ['nowhere'] });
  expect(none.task('report').output).toEqual({ shops: 0, totals: { nowhere: 0 } });
});

test('speculative does not wait for the item that hangs: its speculative attempt is the one that counts', async () => {
  const speculative = await tryExample('speculative');
  expect(speculative.outcome).toBe('succeeded');
  expect(speculative.task('read[5]').output).toEqual({ part: 'f', by: 2 });
  expect(speculative.task('read[4]').output).toEqual({ part: 'e', by: 1 });
  expect(speculative.task('join').output).toBe('abcdefgh');
  expect(speculative.endedAt.getTime() - speculative.startedAt.getTime()).toBeLessThan(30_000);
}, 30_000);

test('partial-failure fails for one of its items, and tells of the others', async () => {
  const partial = await tryExample('partial-failure');
  expect(partial.outcome).toBe('failed');
  const states = ['load[0]', 'load[1]', 'load[2]', 'publish', 'account'].map((name) => partial.task(name).state);
  expect(states).toEqual(['succeeded', 'failed', 'succeeded', 'upstream_failed', 'succeeded']);
  expect(partial.task('load').output).toEqual([{ table: 'orders', rows: 100 }, null, { table: 'prices', rows: 300 }]);
});
