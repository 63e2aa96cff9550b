import { createClient } from '@signalbox/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

const client = () => createClient({ url: rig.servers[0]?.url ?? '', token: rig.token });
const params = { type: 'object', properties: { region: { type: 'string', default: 'eu' } }, required: ['region'] };
const tasks = [{ name: 'job', run: 'true' }];

test('a dag has the schedules of its definition and those of the API, and each origin leaves the others alone', async () => {
  const schedules = [{ name: 'nightly', cron: '0 2 * * *', params: { region: 'us' } }, { every: '15m' }];
  const deploy = (list: unknown) =>
    rig.ask('PUT', '/v1/dags/report', { name: 'report', params, tasks, schedules: list });
  expect(await deploy(schedules)).toMatchObject({ status: 200 });
  const created = await client().createSchedule('report', { name: 'own', cron: '@hourly', priority: 'high' });
  expect(created).toMatchObject({ dag: 'report', name: 'own', origin: 'api', priority: 'high', ifRunning: 'allow' });
  expect(created.params).toBeUndefined();
  const { items } = await client().listSchedulesOfDag('report');
  expect(items.map(({ name, origin, fires }) => [name, origin, fires])).toEqual([
    ['nightly', 'definition', '0 2 * * *'],
    ['schedule-2', 'definition', 'every 15m'],
    ['own', 'api', '@hourly'],
  ]);
  expect(items[0]).toMatchObject({ params: { region: 'us' }, missed: 'most_recent' });

  expect(await rig.ask('PUT', '/v1/dags/report/schedules/nightly', { cron: '@daily' })).toMatchObject({
    status: 409,
    body: { code: 'SCHEDULE_OF_DEFINITION', detail: expect.stringContaining('nightly') },
  });
  expect(await deploy([{ name: 'own', cron: '@daily' }])).toMatchObject({
    status: 409,
    body: { code: 'SCHEDULE_EXISTS', detail: 'Dag report has a schedule own already.' },
  });
  expect(await client().pauseOneSchedule('report', 'nightly')).toMatchObject({ paused: true, nextAt: null });
  expect(await deploy([{ name: 'nightly', cron: '0 3 * * *' }])).toMatchObject({ status: 200 });
  const left = await client().listSchedules({ dag: 'report' });
  expect(left.items.map(({ name, paused }) => [name, paused])).toEqual([['nightly', true], ['own', false]]); // biome-ignore format: pairs
  expect((await client().listSchedules({ paused: true })).items.map(({ name }) => name)).toEqual(['nightly']);
  const first = await client().listSchedules({ limit: 1 });
  expect((await client().listSchedules({ limit: 1, cursor: first.cursor ?? '' })).items[0]?.name).toBe('own');
});

test('one is edited and deleted, and what is wrong with it is told', async () => {
  await rig.ask('PUT', '/v1/dags/edited', { name: 'edited', params, tasks });
  const ask = (method: string, path: string, body?: unknown) =>
    rig.ask(method, `/v1/dags/edited/schedules${path}`, body);
  expect(await ask('POST', '', { name: 'a', cron: '61 * * * *' })).toMatchObject({
    status: 422,
    body: { code: 'SCHEDULE_INVALID' },
  });
  expect(await ask('POST', '', { name: 'a', cron: '@daily', params: { region: 7 } })).toMatchObject({
    status: 422,
    body: { code: 'PARAMS_INVALID' },
  });
  expect(await ask('POST', '', { name: 'a', cron: '@daily', missed: 'skip', missedMaxAge: '1h' })).toMatchObject({
    status: 400,
  });
  expect(await ask('POST', '', { name: 'a', cron: '@daily' })).toMatchObject({ status: 201 });
  expect(await ask('POST', '', { name: 'a', cron: '@daily' })).toMatchObject({ status: 201 });
  expect(await ask('POST', '', { name: 'a', cron: '@hourly' })).toMatchObject({
    status: 409,
    body: { code: 'SCHEDULE_EXISTS' },
  });
  const edited = await client().editSchedule('edited', 'a', { every: '1h', missed: 'all', ifRunning: 'skip' });
  expect(edited).toMatchObject({ everyMs: 3_600_000, missed: 'catchup', ifRunning: 'skip', revision: 2 });
  expect(await client().deleteSchedule('edited', 'a')).toEqual({ dag: 'edited', name: 'a', deleted: true });
  expect(await ask('GET', '/a')).toMatchObject({ status: 404, body: { code: 'SCHEDULE_NOT_FOUND' } });
  expect(await rig.ask('GET', '/v1/dags/none/schedules')).toMatchObject({
    status: 404,
    body: { code: 'DAG_NOT_FOUND' },
  });
});

test('many are created in one request; those of one dag together or not at all (I13)', async () => {
  for (const name of ['many', 'other']) await rig.ask('PUT', `/v1/dags/${name}`, { name, tasks });
  const items = Array.from({ length: 500 }, (_, no) => ({ dag: 'many', name: `s${no}`, cron: 'H H * * *' }));
  const answer = await client().createSchedules([
    ...items,
    { dag: 'other', name: 'good', cron: '@daily' },
    { dag: 'other', name: 'bad', cron: '0 0 30 2 *' },
    { dag: 'nowhere', name: 'x', cron: '@daily' },
  ]);
  expect(answer.created).toBe(500);
  expect(answer.items.slice(500).map(({ dag, error }) => [dag, error?.code])).toEqual([
    ['other', 'SCHEDULE_INVALID'],
    ['other', 'SCHEDULE_INVALID'],
    ['nowhere', 'DAG_NOT_FOUND'],
  ]);
  expect((await rig.sql('select count(*)::integer as count from schedule_more'))[0]).toEqual({
    count: expect.any(Number),
  });
  expect((await client().listSchedulesOfDag('other')).items).toEqual([]);
});

test('a run is created at once where asked, with the params of its schedule, and its window is listed', async () => {
  await rig.ask('PUT', '/v1/dags/now', { name: 'now', params, tasks });
  await client().createSchedule('now', { name: 'first', cron: '@yearly', runNow: true, params: { region: 'us' } });
  const { items } = await client().listWindows('now', { schedule: 'first' });
  expect(items).toMatchObject([{ schedule: 'first', skipped: null, run: expect.any(String) }]);
  expect(await client().getRun(items[0]?.run ?? '')).toMatchObject({ cause: 'schedule' });
  expect(await client().getSchedule('now', 'first')).toMatchObject({ fired: 1 });
});
