/** Backfills and runs for chosen windows, over real sockets and a real database. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from './testing/rig.ts';

const DAY = 86_400_000;
/** The beginning of the day so many days ago. */
const daysAgo = (count: number): string => new Date(Math.floor(Date.now() / DAY) * DAY - count * DAY).toISOString();

let rig: Rig;
const seen: unknown[] = [];
beforeAll(async () => {
  rig = await startRig({ SIGNALBOX_HEARTBEAT_MS: '150', SIGNALBOX_LEASE_MS: '1500' });
  const work = ({ window }: { window: { at: Date; start: Date; end: Date } | null }) => {
    seen.push(window);
    if (window?.at.toISOString() === daysAgo(3) && seen.length < 20) throw new Error('no data for that day');
    return window?.start.toISOString() ?? null;
  };
  await rig.addWorker({ work }, { queues: ['backfill'] });
  for (const name of ['daily', 'other']) {
    const tasks = [
      { name: 'extract', handler: 'work', queue: 'backfill', retries: { maxAttempts: 1 } },
      { name: 'load', handler: 'work', queue: 'backfill', needs: ['extract'] },
    ];
    const deployed = await rig.ask('PUT', `/v1/dags/${name}`, { name, schedule: { cron: '0 0 * * *' }, tasks });
    expect([deployed.status, deployed.body.code]).toEqual([200, undefined]);
  }
});
afterAll(() => rig.stop());

const ask = async (method: string, path: string, body?: unknown) => {
  const { status, body: answer } = await rig.ask(method, path, body);
  return { status, ...(answer as unknown as Record<string, unknown>) } as Record<string, unknown> & {
    status: number;
    id: string;
  };
};
const start = (body: object, dag = 'daily') => ask('POST', `/v1/dags/${dag}/backfills`, body);
const ended = (id: string) => eventually(async () => (await ask('GET', `/v1/backfills/${id}`)).state === 'ended');
interface Run {
  readonly id: string;
  readonly window: string;
  readonly windowStart: string;
  readonly cause: string;
  readonly outcome: string;
}
const runsOf = async (id: string) => (await ask('GET', `/v1/runs?backfill=${id}`)).items as readonly Run[];

test('a window has one run, whoever asks for it', async () => {
  const first = await ask('POST', '/v1/dags/daily/runs', { window: daysAgo(2) });
  expect(first.status).toBe(201);
  expect(await ask('POST', '/v1/dags/daily/runs', { window: daysAgo(2) })).toMatchObject({
    status: 200,
    id: first.id,
    repeated: true,
  });
  await eventually(async () => (await ask('GET', `/v1/runs/${first.id}`)).state === 'ended');
  const run = await ask('GET', `/v1/runs/${first.id}`);
  expect(run).toMatchObject({ outcome: 'succeeded', cause: 'api', window: daysAgo(2), windowStart: daysAgo(3) });
  expect(seen[0]).toEqual({ at: new Date(daysAgo(2)), start: new Date(daysAgo(3)), end: new Date(daysAgo(2)) });
});

test.each([
  ['a time at which the schedule does not fire', { window: daysAgo(2).replace('T00', 'T01') }, 'WINDOW_INVALID'],
  ['a time that has not come', { window: daysAgo(-2) }, 'WINDOW_INVALID'],
  ['a schedule that is not there', { window: daysAgo(2), schedule: 'none' }, 'SCHEDULE_NOT_FOUND'],
  ['a schedule without a window', { schedule: 'default' }, 'BAD_REQUEST'],
])('%s is refused', async (_, body, code) => {
  expect(await ask('POST', '/v1/dags/daily/runs', body)).toMatchObject({ code });
});

test('a backfill names the schedule that is not there', async () => {
  const asked = await ask('POST', '/v1/dags/daily/backfills/preview', { from: daysAgo(5), schedule: 'none' });
  expect(asked).toMatchObject({ status: 404, detail: 'Dag daily has no schedule none.' });
});

test('a backfill runs the windows without a run, and tells how far it is', async () => {
  const range = { from: daysAgo(5), to: daysAgo(1), maxActive: 2 };
  const preview = await ask('POST', '/v1/dags/daily/backfills/preview', range);
  expect(preview).toMatchObject({ status: 200, windows: 5, toCreate: 4 });
  expect((preview.items as { action: string }[]).map(({ action }) => action)).toEqual([
    ...['create', 'create', 'create', 'skip', 'create'],
  ]);
  const started = await start(range);
  expect(started).toMatchObject({ status: 201, windows: 5, state: expect.stringMatching(/running|ended/) });
  await ended(started.id);
  expect(await ask('GET', `/v1/backfills/${started.id}`)).toMatchObject({
    ...{ decided: 5, created: 4, skipped: 1, dag: 'daily', schedule: 'default', maxActive: 2, share: 0.05 },
    runs: { active: 0, succeeded: 3, failed: 1, cancelled: 0 },
  });
  const runs = await runsOf(started.id);
  expect(runs.map(({ window }) => window).sort()).toEqual([5, 4, 3, 1].map(daysAgo));
  expect(new Set(runs.map(({ cause }) => cause))).toEqual(new Set(['backfill']));
  expect(((await ask('GET', '/v1/backfills?dag=daily')).items as { id: string }[])[0]?.id).toBe(started.id);
});

test('what failed is run again, by a run of its own', async () => {
  seen.length = 30;
  const before = await ask('POST', '/v1/dags/daily/backfills/preview', { from: daysAgo(5), which: 'failed' });
  expect(before).toMatchObject({ toCreate: 1 });
  const started = await start({ from: daysAgo(5), which: 'failed' });
  await ended(started.id);
  const [run, ...others] = await runsOf(started.id);
  expect(others).toEqual([]);
  expect(run).toMatchObject({ window: daysAgo(3), outcome: 'succeeded' });
  expect(await ask('POST', '/v1/dags/daily/runs', { window: daysAgo(3) })).toMatchObject({
    id: run?.id,
    repeated: true,
  });
});

test('it is paused, resumed and cancelled with its runs', async () => {
  // Nobody listens to this queue: its runs wait.
  const tasks = [{ name: 'wait', handler: 'work', queue: 'nobody' }];
  await ask('PUT', '/v1/dags/other', { name: 'other', schedule: { cron: '0 0 * * *' }, tasks });
  const started = await start({ from: daysAgo(30), maxActive: 3, order: 'backward', until: 'wait' }, 'other');
  const path = `/v1/backfills/${started.id}`;
  await eventually(async () => ((await ask('GET', path)).runs as { active: number }).active === 3);
  expect(await ask('POST', `${path}/pause`)).toMatchObject({ status: 200, state: 'paused', estimatedEndAt: null });
  expect(await ask('POST', `${path}/resume`)).toMatchObject({ state: 'running' });
  const cancelled = await ask('POST', `${path}/cancel`, { runs: true });
  expect(cancelled).toMatchObject({ state: 'cancelled', until: 'wait', created: 3 });
  await eventually(async () => ((await ask('GET', path)).runs as { cancelled: number }).cancelled === 3);
  expect(await ask('POST', `${path}/resume`)).toMatchObject({ code: 'BACKFILL_ENDED' });
  expect((await runsOf(started.id)).map(({ window }) => window)).toHaveLength(3);
});

test.each([
  ['a range in the future', { from: daysAgo(-2) }, 'BACKFILL_INVALID'],
  ['a task that is not there', { from: daysAgo(2), until: 'nothing' }, 'UNTIL_INVALID'],
  ['a schedule that is not there', { from: daysAgo(2), schedule: 'none' }, 'SCHEDULE_NOT_FOUND'],
  ['too many runs at a time', { from: daysAgo(2), maxActive: 101 }, 'BAD_REQUEST'],
])('%s is refused', async (_, body, code) => {
  expect(await start(body)).toMatchObject({ code });
});

test('a backfill that is not there is not found', async () => {
  const id = '01900000-0000-7000-8000-000000000007';
  for (const path of [`/v1/backfills/${id}`, `/v1/runs?backfill=${id}`]) {
    expect(await ask('GET', path)).toMatchObject({ code: 'BACKFILL_NOT_FOUND' });
  }
});
