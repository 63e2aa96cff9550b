import { expect, test } from 'vitest';
import { dag } from '../dag/dag.ts';
import { runTask } from './run-task.ts';
import { testRun } from './test-run.ts';

const files = dag<{ days: string[] }>('files', ({ task, map, params }) => {
  const list = task('list', () => ({ files: [{ path: 'a' }, { path: 'b' }, { path: 'c' }] }));
  const load = task('load', { map: list.output.files, inputs: { days: params.days } }, ({ item, index, inputs }) => ({
    text: `${index}${item.path}${inputs.days.length}`,
    parts: [index, index + 1],
  }));
  const done = map('each', load.output, ({ item, map }) =>
    map('part', { over: { day: params.days, n: [1, 2] }, mode: 'zip' }, ({ item: inner, task }) =>
      task('one', { inputs: { text: item.text, day: inner.day } }, ({ inputs, item: own, map: places }) => [
        inputs.text,
        inputs.day,
        own.n,
        places.map(({ index }) => index),
      ]),
    ),
  );
  task('sum', { inputs: { texts: load.output.text, ones: done.output } }, ({ inputs }) => ({
    texts: inputs.texts.join(),
    count: inputs.ones.length,
    last: inputs.ones.at(-1),
  }));
});

test('maps run in a test as on a server: items in, lists out, maps in maps (I34, I36)', async () => {
  const run = await testRun(files, { params: { days: ['mon', 'tue'] } });
  expect(run.outcome).toBe('succeeded');
  expect(run.task('sum').output).toEqual({ texts: '0a2,1b2,2c2', count: 6, last: ['2c2', 'tue', 2, [2, 1]] });
  expect(run.task('load[1]')).toMatchObject({ state: 'succeeded', output: { text: '1b2', parts: [1, 2] } });
  expect(run.task('one[2][0]').output).toEqual(['2c2', 'mon', 1, [2, 0]]);
  expect((run.task('load').output as unknown[]).length).toBe(3);
});

test('one instance may have a stub of its own, and its failure is that of the tasks behind it', async () => {
  const run = await testRun(files, {
    params: { days: ['mon', 'tue'] },
    stubs: {
      'load[1]': () => {
        throw new Error('broken');
      },
    },
  });
  expect(run.outcome).toBe('failed');
  expect([run.task('load[0]').state, run.task('load[1]').state]).toEqual(['succeeded', 'failed']);
  expect(run.task('sum').state).toBe('upstream_failed');
  await expect(testRun(files, { params: { days: [] }, stubs: { 'lode[1]': () => 1 } })).rejects.toThrow(
    'no task lode[1]',
  );
});

test('an empty map has an empty list behind it', async () => {
  const run = await testRun(files, { params: { days: [] }, stubs: { list: () => ({ files: [] }) } });
  expect(run.outcome).toBe('succeeded');
  expect(run.task('sum').output).toEqual({ texts: '', count: 0 });
});

test('a map of 3,000 is run', async () => {
  const wide = dag('wide', ({ task }) => {
    const list = task('list', () => Array.from({ length: 3_000 }, (_, no) => no));
    const twice = task('twice', { map: list.output }, ({ item }) => item * 2);
    task('sum', { inputs: { all: twice.output } }, ({ inputs }) => inputs.all.reduce((sum, each) => sum + each, 0));
  });
  expect((await testRun(wide)).task('sum').output).toBe(2_999 * 3_000);
});

test('a function of a map can be called by itself', async () => {
  const output = await runTask(files, 'load', { item: { path: 'x' }, index: 7, params: { days: ['mon'] } });
  expect(output).toMatchObject({ text: '7x1' });
  await expect(runTask(files, 'list', { item: 1 })).rejects.toThrow('in no map');
});

test('a gang runs in a test: all members start together, and all run again when one fails', async () => {
  const seen: string[] = [];
  const train = dag('train', ({ task }) => {
    const fit = task('fit', { gang: 3, resources: { gpu: 1 }, retries: { maxAttempts: 2 } }, ({ gang, attempt }) => {
      seen.push(`${gang?.rank} of ${gang?.size}`);
      if (gang?.rank === 1 && attempt === 1) throw new Error('on purpose');
      return gang?.rank ?? 0;
    });
    task('sum', { inputs: { ranks: fit.output } }, ({ inputs }) => inputs.ranks.map((rank) => rank * 2));
  });
  const run = await testRun(train);
  expect(run.outcome).toBe('succeeded');
  expect(run.task('sum').output).toEqual([0, 2, 4]);
  expect(seen).toHaveLength(6);
});
