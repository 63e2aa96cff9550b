import { DAYS, type LimitPage, type ReservationPage, type ReservationView, type RunView } from '@signalbox/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

const HOUR = 3_600_000;
let rig: Rig;
let finish: () => void = () => undefined;
const finished = new Promise<void>((resolve) => {
  finish = resolve;
});
beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker({ wait: () => finished.then(() => null) }, { slots: 4, queues: ['kept'] });
  for (const name of ['nightly', 'other'])
    await rig.ask('PUT', `/v1/dags/${name}`, { name, tasks: [{ name: 'work', handler: 'wait', queue: 'kept' }] });
});
afterAll(async () => {
  finish();
  await rig.stop();
});

const submit = async (dag: string, body = {}): Promise<string> =>
  (await rig.ask('POST', `/v1/dags/${dag}/runs`, body)).body.id;
const taskOf = async (id: string) => (await rig.read<RunView>(`/v1/runs/${id}`)).tasks[0]!;
const states = async (ids: readonly string[]) => {
  const tasks = await Promise.all(ids.map(taskOf));
  return tasks.map(({ state }) => state).toSorted();
};
const list = async () => (await rig.read<ReservationPage>('/v1/reservations')).items;
const at = (ms: number) => new Date(Date.now() + ms).toISOString();
const create = async (body: object, headers?: Record<string, string>) => {
  const given = { dag: 'nightly', slots: 1, from: at(-HOUR), until: at(HOUR), ...body };
  return rig.ask('POST', '/v1/reservations', given, headers === undefined ? {} : { headers });
};

test('while slots are kept for a dag others leave them, say why, and have them when it is over (I44)', async () => {
  const made = await create({ slots: 3, queues: ['kept'], reason: 'the month is closed' });
  expect([made.status, made.body]).toMatchObject([200, { dag: 'nightly', slots: 3, open: true, queues: ['kept'] }]);
  const { id } = made.body as unknown as ReservationView;
  await eventually(async () => (await list())[0]?.left === 1);
  // For the three kept slots alone.
  const wanted = async () => (await rig.client().listQueues()).items.find(({ name }) => name === 'kept')?.wantedWorkers;
  expect(await wanted()).toBe(1);
  // All shards have heard of it.
  await eventually(async () => {
    const rows = await rig.sql(`select count(*) as n from slot_hold where limit_name like 'kept/%' and is_limited`);
    return Number(rows[0]?.n) === 64;
  });
  const others = await Promise.all([1, 2, 3].map(() => submit('other')));
  await eventually(async () => (await states(others))[2] === 'running');
  const nightly = await submit('nightly');
  await eventually(async () => (await taskOf(nightly)).state === 'running');
  expect(await states(others)).toEqual(['ready', 'ready', 'running']);
  // Four tasks run or wait, and three slots are kept.
  expect(await wanted()).toBe(2);
  const waiting = (await Promise.all(others.map(taskOf))).find(({ state }) => state === 'ready');
  expect(waiting?.why?.code).toBe('reserved');
  const until = (await list())[0]?.window?.until;
  expect(waiting?.why?.message).toMatch(
    new RegExp(
      `^3 slots of queue "kept" are kept for dag nightly until ${until}, by .+: the month is closed. The others share 1 slot`,
    ),
  );
  const critical = await submit('other', { priority: 'critical' });
  await eventually(async () => (await taskOf(critical)).state === 'running');
  // It is no limit that people set.
  expect((await rig.read<LimitPage>('/v1/limits')).items).toEqual([]);
  expect((await rig.ask('DELETE', `/v1/reservations/${id}`)).body).toMatchObject({ id, deleted: true });
  await eventually(async () => (await states(others)).filter((state) => state === 'running').length === 2);
  expect((await rig.ask('DELETE', `/v1/reservations/${id}`)).body.code).toBe('RESERVATION_NOT_FOUND');
  const actions = (await rig.client().listAudit()).items.map(({ action }) => action);
  expect(actions).toEqual(expect.arrayContaining(['reservation.created', 'reservation.deleted']));
});

const inBerlin = (ms: number) => {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin', hour: '2-digit', minute: '2-digit' });
  return format.format(Date.now() + ms);
};
const dayInBerlin = (ms: number) => {
  const day = new Intl.DateTimeFormat('en', { timeZone: 'Europe/Berlin', weekday: 'short' }).format(Date.now() + ms);
  return day.toLowerCase() as (typeof DAYS)[number];
};

test.each([
  ['now', -HOUR, HOUR, null, true],
  ['later today', HOUR, 2 * HOUR, null, false],
  ['over for today', -2 * HOUR, -HOUR, null, false],
  ['the whole day', -HOUR, -HOUR, null, true],
  ['now, on its day', -HOUR, HOUR, [dayInBerlin(-HOUR)], true],
  ['now, on other days', -HOUR, HOUR, DAYS.filter((day) => day !== dayInBerlin(-HOUR)), false],
] as const)('each day between two wall times of a zone: %s', async (_, from, until, days, open) => {
  const times = { from: inBerlin(from), until: inBerlin(until), timezone: 'Europe/Berlin' };
  const made = (await create({ ...times, ...(days === null ? {} : { days }) })).body as unknown as ReservationView;
  expect(made).toMatchObject({ ...times, open });
  const window = made.window!;
  expect([window.from <= at(0), window.until > at(0)]).toEqual([open, true]);
  expect((await rig.ask('DELETE', `/v1/reservations/${made.id}`)).status).toBe(200);
});

test('one that is over keeps nothing, and is listed until it is deleted', async () => {
  const made = (await create({ from: at(-2 * HOUR), until: at(-HOUR) })).body as unknown as ReservationView;
  expect(made).toMatchObject({ open: false, window: null });
  expect((await list()).map(({ id }) => id)).toEqual([made.id]);
  await rig.ask('DELETE', `/v1/reservations/${made.id}`);
});

test.each([
  [{ dag: undefined }, 'give either dag or tenant'],
  [{ tenant: 'default' }, 'give either dag or tenant'],
  [{ slots: 0 }, 'slots'],
  [{ from: '22:00' }, 'must be a time of day'],
  [{ from: '25:00', until: '04:00' }, 'must be a time of day'],
  [{ from: '22:00', until: '04:00', timezone: 'Mars/Base' }, 'IANA'],
  [{ timezone: 'UTC' }, 'is for times of day'],
  [{ until: at(-2 * HOUR) }, 'must be after'],
  [{ queues: ['a', 'a'] }, 'twice'],
])('%j is refused: %s', async (body, message) => {
  const { status, body: answer } = await create(body);
  expect([status, JSON.stringify(answer)]).toEqual([400, expect.stringContaining(message)]);
});

test('a tenant keeps slots from its own dags alone; the installation keeps them for a tenant (I65)', async () => {
  await rig.ask('POST', '/v1/tenants', { name: 'red' });
  const token = await rig.ask('POST', '/v1/tokens', { name: 'red', role: 'admin', tenant: 'red' });
  const headers = { authorization: `Bearer ${(token.body as unknown as { token: string }).token}` };
  expect((await create({}, headers)).body.code).toBe('DAG_NOT_FOUND');
  expect((await create({ dag: undefined, tenant: 'red' }, headers)).body.code).toBe('FORBIDDEN');
  expect((await create({ dag: undefined, tenant: 'nobody' })).body.code).toBe('TENANT_NOT_FOUND');
  const { id } = (await create({ dag: undefined, tenant: 'red', queues: ['kept'], slots: 9 })).body;
  const own = (await rig.ask('GET', '/v1/reservations', undefined, { headers })).body as unknown as ReservationPage;
  expect([own.items, await list()]).toMatchObject([[{ id, tenant: 'red', dag: null }], [{ id, tenant: 'red' }]]);
  expect((await rig.ask('DELETE', `/v1/reservations/${id}`, undefined, { headers })).body.code).toBe(
    'RESERVATION_NOT_FOUND',
  );
  // Of the tenant for which they are kept, nothing is told.
  await eventually(async () => (await list())[0]?.left === 0);
  const why = async () => (await taskOf(waits)).why;
  const waits = await submit('other');
  await eventually(async () => (await why())?.code === 'reserved');
  expect((await why())?.message).toContain('are kept for another tenant until');
  expect((await why())?.message).not.toContain('red');
  await rig.ask('DELETE', `/v1/reservations/${id}`);
});

test('a tenant has a hundred reservations at most (I68)', async () => {
  const [{ id }] = [(await create({})).body];
  await rig.sql(`insert into reservation (tenant_id, dag_id, dag, queues, slots, limit_name, starts, ends, zone, reserved_by, by_tenant_id)
    select tenant_id, dag_id, dag, queues, slots, limit_name, '00:00', '00:01', 'UTC', reserved_by, by_tenant_id
      from reservation, generate_series(1, 99)`);
  expect((await create({})).body.code).toBe('TOO_MANY_RESERVATIONS');
  await rig.ask('DELETE', `/v1/reservations/${id}`);
  expect((await create({})).status).toBe(200);
  await rig.sql('delete from reservation');
});
