import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
let isBroken = true;
beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker({
    flaky: () => {
      if (isBroken) throw new Error('It is broken.');
    },
  });
});
afterAll(() => rig.stop());

const deploy = (name: string, more: object = {}) =>
  rig.ask('PUT', `/v1/dags/${name}`, { name, tasks: [{ name: 'a', handler: 'flaky' }], ...more });
const outcomeOf = async (id: string) => (await rig.ask('GET', `/v1/runs/${id}`)).body.outcome;

async function failed(name: string, body: object = {}): Promise<string> {
  const { id } = (await rig.ask('POST', `/v1/dags/${name}/runs`, body)).body;
  await eventually(async () => (await outcomeOf(id)) === 'failed');
  return id;
}

test('failed runs that fit are retried; a dry run only tells which, and others stay as they are', async () => {
  await deploy('night', { tags: ['etl'] });
  await deploy('other');
  const [first, second] = [await failed('night'), await failed('night', { priority: 'low' })];
  const beside = await failed('other');
  const client = rig.client();
  const preview = await client.retryRuns({ tag: 'etl', dryRun: true });
  expect(preview).toMatchObject({ dryRun: true, cursor: null });
  expect(preview.items.map(({ run, count, refused }) => [run, count, refused])).toEqual([
    [second, 1, null],
    [first, 1, null],
  ]);
  expect(await outcomeOf(first)).toBe('failed');
  isBroken = false;
  const done = await client.retryRuns({ dag: 'night', priority: 'low' });
  expect(done.items).toEqual([{ run: second, dag: 'night', count: 1, refused: null }]);
  await eventually(async () => (await outcomeOf(second)) === 'succeeded');
  expect([await outcomeOf(first), await outcomeOf(beside)]).toEqual(['failed', 'failed']);
  expect((await client.retryRuns({ dag: 'night' })).items.map(({ run }) => run)).toEqual([first]);
});

test('without a dag or a tag it is refused, and so is a dag that is not there', async () => {
  expect((await rig.ask('POST', '/v1/runs/retry', {})).status).toBe(400);
  expect((await rig.ask('POST', '/v1/runs/retry', { dag: 'nobody' })).body.code).toBe('DAG_NOT_FOUND');
});
