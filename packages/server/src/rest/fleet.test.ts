/** What waits and what runs, as the servers tell it. */
import type { HeldAttemptPage, QueuePage, Storage } from '@signalbox/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

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
  expect(await queues()).toEqual({
    items: [
      { name: 'default', waiting: 3, workers: 1, slots: 2, running: 2 },
      { name: 'gpu', waiting: 1, workers: 0, slots: 0, running: 0 },
      { name: 'spare', waiting: 0, workers: 1, slots: 2, running: 2 },
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

test('items of a map are named as everywhere', async () => {
  await rig.client().deployDag({
    name: 'mapped',
    tasks: [{ name: 'each', handler: 'hold', map: [10, 20], queue: 'spare' }],
  });
  const { id } = await rig.client().submit('mapped');
  const [worker] = (await rig.client().listWorkers()).items;
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
