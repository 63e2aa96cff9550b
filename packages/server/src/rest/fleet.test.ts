/** What waits and what runs, as the servers tell it. */
import type { HeldAttemptPage, QueuePage, Storage } from '@signalbox/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';
import { VERSION } from '../version.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

const hold = ({ signal }: { signal: AbortSignal }) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

test('queues have what waits in them, also those that no worker serves', async () => {
  await rig.addWorker({ hold }, { name: 'small', slots: 2, queues: ['default', 'spare'] });
  await rig.client().deployDag({
    name: 'crowd',
    tasks: [
      ...Array.from({ length: 5 }, (_, no) => ({ name: `t${no}`, handler: 'hold' })),
      { name: 'alone', handler: 'hold', queue: 'gpu' },
    ],
  });
  const { id } = await rig.client().submit('crowd');
  const queues = () => rig.read<QueuePage>('/v1/queues');
  await eventually(async () => (await queues()).items.find(({ name }) => name === 'default')?.running === 2);
  const since = { oldestMs: expect.any(Number) };
  const idle = { oldestMs: null, startsPerMinute: 0, drainMs: 0 };
  const isStarting = { startsPerMinute: expect.any(Number), drainMs: expect.any(Number) };
  expect(await queues()).toEqual({
    items: [
      {
        ...{ name: 'default', waiting: 3, held: 0, running: 2, workers: 1, slots: 2, wantedWorkers: 3 },
        ...since,
        ...isStarting,
      },
      // Nothing of it was ever started, so nobody knows when it will be.
      {
        ...{ name: 'gpu', waiting: 1, held: 0, running: 0, workers: 0, slots: 0, wantedWorkers: null },
        ...{ ...since, startsPerMinute: 0, drainMs: null },
      },
      { name: 'spare', waiting: 0, held: 0, running: 0, workers: 1, slots: 2, wantedWorkers: 0, ...idle },
    ],
    cursor: null,
    missing: [],
  });

  const [worker] = (await rig.client().listWorkers()).items;
  const held = await rig.read<HeldAttemptPage>(`/v1/workers/${worker?.id}/attempts`);
  expect(held).toMatchObject({ cursor: null, more: 0 });
  expect(held.items).toHaveLength(2);
  for (const one of held.items) {
    expect(one).toEqual({ dag: 'crowd', run: id, task: expect.stringMatching(/^t[0-4]$/), attempt: 1 });
  }
  await rig.ask('POST', `/v1/runs/${id}/cancel`, {});
});

test('servers and workers tell their versions; a server that is too old to tell has none', async () => {
  const node = { id: rig.servers[0]?.nodeId, version: VERSION, shards: 64 };
  expect(await rig.client().listNodes()).toMatchObject({ items: [node], unowned: 0 });
  expect((await rig.client().listWorkers()).items.map(({ version }) => version)).toEqual([VERSION]);
  await rig.sql('update node set version = null');
  expect((await rig.client().listNodes()).items).toMatchObject([{ ...node, version: null }]);
});

test('what a limit of its dag holds back wants no worker', async () => {
  await rig.client().deployDag({
    name: 'narrow',
    maxActiveTasks: 1,
    tasks: Array.from({ length: 4 }, (_, no) => ({ name: `t${no}`, handler: 'hold', queue: 'spare' })),
  });
  const { id } = await rig.client().submit('narrow');
  const spare = async () => (await rig.client().listQueues()).items.find(({ name }) => name === 'spare');
  await expect
    .poll(spare, { timeout: 15_000 })
    .toMatchObject({ waiting: 3, held: 3, running: 1, wantedWorkers: 1, drainMs: 0 });
  await rig.ask('POST', `/v1/runs/${id}/cancel`, {});
});

test('a queue is scaled in by draining the least busy of its workers', async () => {
  await rig.client().deployDag({ name: 'one', tasks: [{ name: 't', handler: 'hold', queue: 'scaled' }] });
  await rig.addWorker({ hold }, { name: 'busy', slots: 1, queues: ['scaled'] });
  const { id } = await rig.client().submit('one');
  const scaled = async () => (await rig.client().listQueues()).items.find(({ name }) => name === 'scaled');
  await expect.poll(scaled, { timeout: 15_000 }).toMatchObject({ running: 1, workers: 1 });
  await rig.addWorker({ hold }, { name: 'idle', slots: 4, queues: ['scaled'] });
  await expect.poll(scaled, { timeout: 15_000 }).toMatchObject({ workers: 2 });
  const answer = await rig.client().scaleIn('scaled', { to: 1 });
  expect(answer).toMatchObject({ queue: 'scaled', workers: 1, drained: [{ name: 'idle', running: 0 }] });
  await expect.poll(scaled, { timeout: 15_000 }).toMatchObject({ running: 1, workers: 1, slots: 1 });
  expect(await rig.client().scaleIn('scaled', { to: 3 })).toMatchObject({ workers: 1, drained: [] });
  const refused = await rig.ask('POST', '/v1/queues/scaled/scale-in', { to: -1 });
  expect([refused.status, refused.body.code]).toEqual([400, 'BAD_REQUEST']);
  const misspelt = await rig.ask('POST', '/v1/queues/sclaed/scale-in', { to: 1 });
  expect([misspelt.status, misspelt.body.code]).toEqual([400, 'BAD_REQUEST']);
  await rig.ask('POST', `/v1/runs/${id}/cancel`, {});
});

test('items of a map are named as everywhere', async () => {
  await rig.client().deployDag({
    name: 'mapped',
    tasks: [{ name: 'each', handler: 'hold', map: [10, 20], queue: 'spare' }],
  });
  const { id } = await rig.client().submit('mapped');
  const worker = (await rig.client().listWorkers()).items.find(({ name }) => name === 'small');
  const names = async () =>
    (await rig.read<HeldAttemptPage>(`/v1/workers/${worker?.id}/attempts`)).items
      .filter(({ run }) => run === id)
      .map(({ task }) => task)
      .sort();
  await expect.poll(names, { timeout: 15_000 }).toEqual(['each[0]', 'each[1]']);
  await rig.ask('POST', `/v1/runs/${id}/cancel`, {});
});

test('a worker that is not there runs nothing that could be listed', async () => {
  const { status, body } = await rig.ask('GET', '/v1/workers/0199aaaa-0000-7000-8000-000000000000/attempts');
  expect([status, body.code]).toEqual([404, 'WORKER_NOT_FOUND']);
});

test('storage has the sizes of the database and its tables, with partitions, and the room on the disk', async () => {
  const { databaseBytes, tables, logBytes, disk } = await rig.read<Storage>('/v1/storage');
  const names = tables.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['run', 'task', 'journal', 'dag_version']));
  expect(names.filter((name) => /_d\d+$/.test(name))).toEqual([]);
  const sizes = tables.map(({ bytes }) => bytes);
  expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
  expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(databaseBytes);
  expect(logBytes).toBeGreaterThanOrEqual(0);
  expect(disk.freeBytes).toBeGreaterThan(0);
  expect(disk.totalBytes).toBeGreaterThan(disk.freeBytes);
});

test('workers that give their queues weights tell them', async () => {
  await rig.addWorker({ hold }, { name: 'weighed', slots: 1, queues: { first: 4, second: 2 } });
  const { items } = await rig.client().listWorkers();
  expect(items.find(({ name }) => name === 'weighed')).toMatchObject({
    queues: ['first', 'second'],
    queueWeights: { first: 4, second: 2 },
  });
});
