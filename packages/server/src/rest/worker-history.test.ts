/** What happened to workers, told by the servers that saw it and by those who asked for it, also after the worker is gone. */
import { randomUUID } from 'node:crypto';
import type { NodeId } from '@signalbox/engine';
import type { WorkerHistory } from '@signalbox/protocol';
import { openPostgresStore, openQueries } from '@signalbox/store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, PLAIN_HANDLERS, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ SIGNALBOX_LEASE_MS: '1500', SIGNALBOX_HEARTBEAT_MS: '300' });
});
afterAll(async () => {
  await rig.stop();
});

const historyOf = async (worker: string) =>
  (await rig.read<WorkerHistory>(`/v1/workers/history?worker=${worker}`)).items.toReversed();
const kindsOf = async (worker: string) => (await historyOf(worker)).map(({ kind }) => kind);
const has = (worker: string, kind: string) => eventually(async () => (await kindsOf(worker)).includes(kind as never));
const idOf = async (name: string) =>
  (await rig.client().listWorkers()).items.find((worker) => worker.name === name)?.id ?? '';

test('a worker that comes, is cordoned, drained by somebody, and leaves', async () => {
  const worker = await rig.addWorker(PLAIN_HANDLERS, { name: 'calm', queues: ['a', 'b'], slots: 3 });
  const id = await idOf('calm');
  await has('calm', 'registered');
  await rig.ask('PUT', `/v1/freezes/worker:${id}`, { reason: 'a noisy disk' });
  await rig.ask('DELETE', `/v1/freezes/worker:${id}`);
  await rig.ask('POST', `/v1/workers/${id}/drain`);
  await worker.stopped;
  await has('calm', 'left');
  const events = await historyOf('calm');
  expect(events.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(['registered', 'cordoned', 'uncordoned', 'drain_asked', 'draining', 'left']),
  );
  expect(events).toHaveLength(6);
  expect(events[0]).toMatchObject({ worker: id, name: 'calm', actor: '', node: rig.servers[0]?.nodeId });
  expect(events[0]?.message).toMatch(/^It came for the first time: 3 slots for a, b, version /);
  expect(events[1]).toMatchObject({ kind: 'cordoned', name: 'calm', actor: 'token:admin', node: null });
  expect(events[1]?.message).toBe('token:admin cordoned it: a noisy disk.');
  // By the beginning of its id, too, and page by page.
  expect(await historyOf(id.slice(0, 12))).toEqual(events);
  const first = await rig.client().listWorkerHistory({ worker: 'calm', limit: 4 });
  const rest = await rig.client().listWorkerHistory({ worker: 'calm', limit: 4, cursor: first.cursor ?? '' });
  expect([...first.items, ...rest.items].toReversed()).toEqual(events);
});

test('a worker that is killed is disconnected, and lost after its lease', async () => {
  const worker = await rig.addWorker(PLAIN_HANDLERS, { name: 'killed' });
  await has('killed', 'registered');
  worker.kill();
  await has('killed', 'lost');
  expect(await kindsOf('killed')).toEqual(['registered', 'disconnected', 'lost']);
  expect((await historyOf('killed'))[2]?.message).toMatch(
    /^Nothing was heard of it for .*: its attempts are given up\.$/,
  );
});

test('a worker that goes to another server comes back there, and is lost to nobody', async () => {
  const second = await rig.addServer();
  await rig.addWorker(PLAIN_HANDLERS, { name: 'moves' });
  await has('moves', 'registered');
  await second.stop();
  await has('moves', 'returned');
  await rig.sql('select pg_sleep(3)');
  const events = await historyOf('moves');
  expect(events.map(({ kind }) => kind)).toEqual(['registered', 'disconnected', 'returned']);
  expect(events.map(({ node }) => node)).toEqual([second.nodeId, second.nodeId, rig.servers[0]?.nodeId]);
  expect(events[1]?.details).toMatchObject({ reason: 'the server stops' });
});

test('a clock that is wrong is told once, and once more when it is right', async () => {
  let aheadMs = 90_000;
  const timing = { wallNow: () => Date.now() + aheadMs };
  // The rig would name the server that has just stopped.
  const gateways = [rig.servers[0]?.grpcAddress ?? ''];
  await rig.addWorker(PLAIN_HANDLERS, { name: 'early', timing, gateways });
  await has('early', 'clock_wrong');
  await rig.sql('select pg_sleep(1)');
  aheadMs = 0;
  await has('early', 'clock_right');
  const events = await historyOf('early');
  expect(events.map(({ kind }) => kind)).toEqual(['registered', 'clock_wrong', 'clock_right']);
  expect(events[1]?.message).toMatch(/^Its clock is (90\.0|89\.9) s ahead\.$/);
});

test('another tenant sees nothing of it; what is older than runs is removed', async () => {
  await rig.ask('POST', '/v1/tenants', { name: 'other' });
  const { body } = await rig.ask('POST', '/v1/tokens', { name: 'spy', role: 'admin', tenant: 'other' });
  const headers = { authorization: `Bearer ${(body as unknown as { token: string }).token}` };
  expect((await rig.ask('GET', '/v1/workers/history', undefined, { headers })).body.items).toEqual([]);
  const store = await openPostgresStore({ url: rig.databaseUrl });
  await rig.sql(`update worker_event set at = at - interval '31 days' where name = 'killed'`);
  expect(await store.dropOldWorkerEvents((Date.now() - 30 * 86_400_000) as never)).toBe(false);
  await store.close();
  expect(await historyOf('killed')).toEqual([]);
  expect(await historyOf('calm')).toHaveLength(6);
});

test('a worker is lost to the server that saw it last, and to no other', async () => {
  const queries = await openQueries({ url: rig.databaseUrl });
  const [here, there] = [randomUUID() as NodeId, randomUUID() as NodeId];
  const worker = { tenantId: 1, workerId: randomUUID(), name: 'half-open', details: {} } as never as { name: string };
  const tell = (nodeId: NodeId, kind: string) => queries.keepWorkerEvents(nodeId, [{ ...worker, kind } as never]);
  await tell(here, 'connected');
  await tell(there, 'connected');
  await tell(here, 'lost');
  expect(await kindsOf('half-open')).toEqual(['registered', 'returned']);
  await tell(there, 'lost');
  expect(await kindsOf('half-open')).toEqual(['registered', 'returned', 'lost']);
  await queries.close();
});
