/** The examples as a newcomer runs them: the whole product, a worker with processes of its own, through the command line alone. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Sandbox } from './sandbox.ts';

interface Task {
  readonly name: string;
  readonly state: string;
  readonly output?: unknown;
  readonly attempts: readonly unknown[];
}
interface Run {
  readonly id: string;
  readonly outcome: string;
  readonly createdAt: string;
  readonly endedAt: string;
  readonly tasks: readonly Task[];
}

let box: Sandbox;
beforeAll(async () => {
  box = await Sandbox.make({ name: 'whoever runs this', ids: null });
  await box.start();
}, 120_000);
afterAll(() => box.remove());

/** Its run when that is over, and how the command ended. */
async function trigger(dag: string, params?: unknown) {
  const given = params === undefined ? [] : ['--params', JSON.stringify(params)];
  const { stdout, stderr, exitCode } = await box.run('runs', 'trigger', dag, ...given, '--wait', '--timeout', '110s');
  const id = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(stdout + stderr)?.[0] ?? '';
  const run = await box.json<Run>('runs', 'show', id, '--all');
  return { run, exitCode, states: Object.fromEntries(run.tasks.map(({ name, state }) => [name, state])) };
}

const outputOf = ({ tasks }: Run, name: string) => tasks.find((task) => task.name === name)?.output;

test.each([
  ['continue', { staff: 'succeeded', report: 'upstream_failed', complain: 'succeeded' }],
  ['fail_fast', { report: 'upstream_failed' }],
  ['skip_failed', { staff: 'succeeded', report: 'succeeded', complain: 'succeeded' }],
])(
  'one failure under %s',
  async (policy, wanted) => {
    const { run, exitCode, states } = await trigger(`one-failure-${policy}`);
    expect([run.outcome, exitCode]).toEqual(['failed', 1]);
    expect(states).toMatchObject(wanted);
  },
  120_000,
);

test('branch goes one way', async () => {
  const { run, states } = await trigger('branch', { amount: 500 });
  expect(run.outcome).toBe('succeeded');
  expect(states).toMatchObject({ review: 'succeeded', ship: 'skipped' });
}, 120_000);

test('word-count runs scripts that were deployed with it', async () => {
  const { run, exitCode } = await trigger('word-count', { word: 'stop' });
  expect([run.outcome, exitCode, outputOf(run, 'report')]).toEqual(['succeeded', 0, 'found 2 times']);
}, 120_000);

test('nested-map counts each shop of each region', async () => {
  const { run } = await trigger('nested-map', { regions: ['north', 'south'] });
  expect(run.outcome).toBe('succeeded');
  expect(outputOf(run, 'report')).toEqual({ shops: 5, totals: { north: 30, south: 60 } });
}, 120_000);

test('add-tasks has two tasks for each table, and sums up', async () => {
  const { run, states } = await trigger('add-tasks', { files: ['a.csv', 'notes.txt'] });
  expect(run.outcome).toBe('succeeded');
  expect(states).toMatchObject({ 'load-a.csv': 'succeeded', 'check-a.csv': 'succeeded' });
  expect(outputOf(run, 'sum')).toBe('a.csv'.length);
}, 120_000);

test('speculative is done though one of its items hangs: a speculative attempt has won', async () => {
  const { run } = await trigger('speculative');
  expect(run.outcome).toBe('succeeded');
  expect(outputOf(run, 'join')).toBe('abcdefgh');
  const hung = run.tasks.find(({ name }) => name === 'read[5]');
  expect(hung).toMatchObject({ output: { part: 'f', by: 2 } });
  expect(hung?.attempts).toMatchObject([
    { outcome: 'cancelled', code: 'superseded', speculative: false },
    { outcome: 'succeeded', speculative: true },
  ]);
}, 120_000);

test('teardown drops its database after a failure', async () => {
  const { run, states } = await trigger('teardown', { fails: true });
  expect(run.outcome).toBe('failed');
  expect(states).toMatchObject({ load: 'failed', report: 'upstream_failed', 'drop-database': 'succeeded' });
}, 120_000);

test('regions has one run made for each region, and sums up', async () => {
  const { run } = await trigger('regions', { day: '2026-01-01' });
  expect(run.outcome).toBe('succeeded');
  expect(outputOf(run, 'sum')).toBe(4);
}, 120_000);

test('saga undoes what it did', async () => {
  const { run, states } = await trigger('saga', { order: 7, inStock: false });
  expect(run.outcome).toBe('failed');
  expect(states).toMatchObject({ 'pay:undo': 'succeeded', 'reserve:undo': 'succeeded', 'run:on_failure': 'succeeded' });
}, 120_000);

test('resume goes on where the last attempt was', async () => {
  const { run } = await trigger('resume', { parts: 6 });
  expect(run.outcome).toBe('succeeded');
  expect(outputOf(run, 'copy')).toEqual({ parts: 6, by: [1, 1, 2, 2, 3, 3] });
}, 120_000);

test('poison is given up early and lies with the dead letters until somebody replays it', async () => {
  const { run } = await trigger('poison');
  expect(run.outcome).toBe('failed');
  expect(run.tasks.find(({ name }) => name === 'parse')).toMatchObject({ state: 'failed', attempts: [{}, {}, {}] });
  const { items } = await box.json<{ items: { task: string; reason: string }[] }>(
    'dead-letters',
    'list',
    '--dag',
    'poison',
  );
  expect(items).toMatchObject([{ task: 'parse', reason: 'poison' }]);
  const preview = await box.run('dead-letters', 'replay', '--dag', 'poison', '--dry-run');
  expect([preview.exitCode, preview.stdout]).toEqual([0, expect.stringContaining('parse')]);
}, 120_000);

test('breaker sends one to see while the others wait, and all come through', async () => {
  const { run } = await trigger('breaker');
  expect(run.outcome).toBe('succeeded');
  const attempts = run.tasks.filter(({ name }) => name !== 'sum').map((task) => task.attempts.length);
  // At most as many fail as calls do, and twenty succeed.
  expect(attempts.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(42);
  // Without a breaker the last of them would come through after a second: who goes to see does so after five.
  expect(Date.parse(run.endedAt) - Date.parse(run.createdAt)).toBeGreaterThan(4_000);
}, 120_000);
