import { expect, test } from 'vitest';
import { dag } from '../dag/dag.ts';
import { takes } from './stubs.ts';
import { testRun } from './test-run.ts';

const region = dag<{ region: string }, { load: { rows: number } }>('region', ({ task, process }) => {
  const fetched = process<{ lines: number }>('fetch', { run: 'fetch' });
  task('load', { inputs: { lines: fetched.output.lines } }, ({ inputs, params }) => ({
    rows: inputs.lines + params.region.length,
  }));
});

const regions = dag<{ which: string }>('regions', ({ child, task, params }) => {
  const one = child('one', { dag: region, inputs: { region: params.which }, retries: { maxAttempts: 2, baseMs: 0 } });
  task('sum', { inputs: { rows: one.output.load.rows } }, ({ inputs }) => inputs.rows);
});

test('a task may be a run of another dag, by its value or by its name', () => {
  expect(regions.definition.tasks[0]).toMatchObject({
    name: 'one',
    dag: 'region',
    inputs: { region: '${{ params.which }}' },
  });
  const named = dag('named', ({ child }) => void child('one', { dag: 'region', wait: false }));
  expect(named.definition.tasks).toEqual([{ name: 'one', dag: 'region', wait: false }]);
  expect(() => dag('wrong', ({ child }) => void child('one', { dag: 1 as never }))).toThrow('is not a dag');
});

test('in a test the other dag runs too, with stubs of its own, and what its leaves return is the output', async () => {
  const run = await testRun(regions, {
    params: { which: 'north' },
    stubs: { 'one/fetch': takes('2m', { lines: 10 }) },
  });
  expect(run.task('one').output).toEqual({ load: { rows: 15 } });
  expect(run.task('sum').output).toBe(15);
  expect(run.elapsedMs).toBe(120_000);
});

test('or is stubbed as a whole', async () => {
  const run = await testRun(regions, { params: { which: '' }, stubs: { one: () => ({ load: { rows: 1 } }) } });
  expect(run.task('sum').output).toBe(1);
});

test('a run that fails fails its task, which is tried again with another one', async () => {
  let count = 0;
  const fetch = () => {
    count += 1;
    throw new Error('There is nothing to fetch.');
  };
  const run = await testRun(regions, { params: { which: '' }, stubs: { 'one/fetch': fetch } });
  expect(run.outcome).toBe('failed');
  expect(run.task('one').attempts.map(({ outcome }) => outcome)).toEqual(['transient', 'transient']);
  expect(run.task('one').error).toMatchObject({ message: 'The run of dag region failed: fetch.' });
  expect(count).toBe(2);
});

test('one that is only named must be given, or stubbed', async () => {
  const named = dag('named', ({ child }) => void child('one', { dag: 'other' }));
  await expect(testRun(named)).rejects.toThrow('Task one is a run of another dag');
  const other = dag('other', ({ task }) => void task('say', () => 'hello'));
  expect((await testRun(named, { dags: [other] })).task('one').output).toEqual({ say: 'hello' });
});
