import { createClient } from '@signalbox/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker({ h: () => 'done' });
  for (const name of ['later', 'other']) {
    await rig.ask('PUT', `/v1/dags/${name}`, {
      name,
      tasks: [
        { name: 'a', handler: 'h' },
        { name: 'b', handler: 'h' },
      ],
    });
  }
});
afterAll(() => rig.stop());

const client = () => createClient({ url: rig.servers[0]?.url ?? '', token: rig.token });
const FAR = '2030-01-01T09:00:00.250Z';

test('a delayed run is shown as scheduled, begins at its time and then is a run like any other', async () => {
  const { id, scheduledFor } = await client().submit('later', { delay: '1500ms', params: { order: 1 }, until: 'a' });
  const waiting = await client().getRun(id);
  expect(waiting).toMatchObject({
    id,
    dag: 'later',
    state: 'scheduled',
    scheduledFor,
    params: { order: 1 },
    until: 'a',
    tasks: [],
  });
  expect(waiting.why).toMatchObject({ code: 'run_scheduled', until: scheduledFor });
  const run = await client().waitForRun(id);
  expect(run).toMatchObject({
    id,
    state: 'ended',
    outcome: 'succeeded',
    params: { order: 1 },
    window: null,
    cause: 'api',
  });
  expect(new Date(run.createdAt).getTime()).toBeGreaterThanOrEqual(new Date(scheduledFor ?? '').getTime());
  expect(run.tasks.map(({ state }) => state)).toEqual(['succeeded', 'skipped']);
});

test('a delayed run is paused and resumed like any other run', async () => {
  const { id } = await client().submit('later', { delay: '700ms', runId: '8c1f0f2e-6d0b-4b8e-9a53-0d7c6b2f4a21' });
  expect(await client().pauseRun(id)).toEqual({ run: id, task: null, paused: true });
  expect(await client().getRun(id)).toMatchObject({ state: 'scheduled', why: { until: null } });
  expect(await client().resumeRun(id)).toEqual({ run: id, task: null, paused: false });
  expect(await client().waitForRun(id)).toMatchObject({ outcome: 'succeeded' });
});

test('delayed runs are listed soonest first, page by page, and are no schedules of their dag', async () => {
  const made: string[] = [];
  for (const at of ['2031-01-01T00:00:00Z', '2030-06-01T00:00:00+02:00', '2032-01-01T00:00:00Z']) {
    made.push((await client().submit('other', { at })).id);
  }
  const [second, first, third] = made;
  const page = await client().listRuns({ dag: 'other', state: 'scheduled', limit: 2 });
  expect(page.items.map(({ id }) => id)).toEqual([first, second]);
  expect(page.items[0]?.scheduledFor).toBe('2030-05-31T22:00:00.000Z');
  const rest = await client().listRuns({ dag: 'other', state: 'scheduled', limit: 2, cursor: page.cursor ?? '' });
  expect([rest.items.map(({ id }) => id), rest.cursor]).toEqual([[third], null]);
  expect((await client().listRuns({ dag: 'other' })).items).toEqual([]);
  expect((await client().listSchedulesOfDag('other')).items).toEqual([]);
  expect((await client().getDag('other')).schedule).toBeNull();
  for (const id of made) await client().cancelRun(id);
  expect((await client().listRuns({ state: 'scheduled' })).items).toEqual([]);
});

test('a delayed run is cancelled before its time, once and by one key as often as you like', async () => {
  const { id } = await client().submit('later', { at: FAR });
  const cancelled = await client().cancelRun(id, { idempotencyKey: 'k' });
  expect(cancelled).toEqual({ id, state: 'ended', outcome: 'cancelled' });
  expect(await client().cancelRun(id, { idempotencyKey: 'k' })).toEqual(cancelled);
  await expect(client().getRun(id)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  await expect(client().cancelRun(id)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
});

test('the same key gives the same run and the same time; another delay is a conflict (I11)', async () => {
  const call = { idempotencyKey: 'order-17' };
  const first = await client().submit('later', { delay: '90d' }, call);
  expect(await client().submit('later', { delay: '90d' }, call)).toEqual(first);
  await expect(client().submit('later', { delay: '91d' }, call)).rejects.toMatchObject({
    code: 'IDEMPOTENCY_CONFLICT',
  });
});

test('a delayed run can have an id of your own', async () => {
  const runId = '7f1a6c1e-92f4-4bd0-8f33-2a2f6f7f5a10';
  expect(await client().submit('later', { runId, at: FAR })).toEqual({ id: runId, scheduledFor: FAR });
  expect(await client().submit('later', { runId, at: FAR })).toEqual({ id: runId, scheduledFor: FAR, repeated: true });
  await expect(client().submit('other', { runId, at: FAR })).rejects.toMatchObject({ code: 'RUN_ID_TAKEN' });
  expect(await client().getRun(runId)).toMatchObject({ id: runId, state: 'scheduled' });
  expect(await client().cancelRun(runId)).toMatchObject({ outcome: 'cancelled' });
});

test('a batch can have runs of now and of later', async () => {
  const { ids } = await client().submitMany('later', [{ at: FAR }, {}, { delay: '1d' }]);
  const states = await Promise.all(ids.map(async (id) => (await client().getRun(id)).state));
  expect([states[0], states[2]]).toEqual(['scheduled', 'scheduled']);
  expect(states[1]).not.toBe('scheduled');
});

test.each([
  [{ at: '2020-01-01T00:00:00Z' }, 422, 'has passed'],
  [{ at: 'tomorrow' }, 400, 'at'],
  [{ delay: '10' }, 400, 'unit'],
  [{ at: FAR, delay: '1m' }, 400, 'one of them'],
  [{ at: FAR, window: '2026-01-01T00:00:00Z' }, 400, 'window'],
])('%j is refused and changes nothing', async (body, status, words) => {
  const before = await client().listRuns({ state: 'scheduled' });
  const answered = await rig.ask('POST', '/v1/dags/later/runs', body);
  expect([answered.status, JSON.stringify(answered.body)]).toEqual([status, expect.stringContaining(words)]);
  expect(await client().listRuns({ state: 'scheduled' })).toEqual(before);
});
