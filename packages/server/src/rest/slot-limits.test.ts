import type { LimitDetails, LimitPage, LimitView, RunView } from '@signalbox/protocol';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
/** Lets go of the tasks that are held, the first that began first. */
const held: (() => void)[] = [];
beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker({ hold: () => new Promise<void>((resolve) => held.push(resolve)) }, { slots: 20 });
});
afterAll(async () => {
  await rig.stop();
});

const limitOf = (name: string) => rig.read<LimitDetails>(`/v1/limits/${name}`);
const setLimit = (name: string, slots: number) => rig.ask('PUT', `/v1/limits/${name}`, { slots });

/** A dag of one task, and so many runs of it. */
async function run(name: string, more: object = {}, count = 1): Promise<string[]> {
  const dag = { name, tasks: [{ name: 'work', handler: 'hold', ...more }] };
  const deployed = await rig.ask('PUT', `/v1/dags/${name}`, dag);
  expect([deployed.status, deployed.body.code]).toEqual([200, undefined]);
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push((await rig.ask('POST', `/v1/dags/${name}/runs`, {})).body.id);
  return ids;
}

const taskOf = async (id: string) => (await rig.read<RunView>(`/v1/runs/${id}`)).tasks[0];
const whyOf = async (id: string) => (await taskOf(id))?.why ?? null;

async function finishAll(ids: readonly string[]): Promise<void> {
  await eventually(async () => {
    for (const letGo of held.splice(0)) letGo();
    const states = await Promise.all(ids.map(async (id) => (await rig.read<RunView>(`/v1/runs/${id}`)).state));
    return states.every((state) => state === 'ended');
  });
}

test('starts of a queue are limited per time, over dags, and who waits says so (I44)', async () => {
  await rig.addWorker({ quick: () => null }, { queues: ['rated'] });
  for (const name of ['rated-a', 'rated-b'])
    await rig.ask('PUT', `/v1/dags/${name}`, { name, tasks: [{ name: 'work', handler: 'quick', queue: 'rated' }] });
  const set = async (body: object) => rig.ask('PUT', '/v1/limits/rate:queue:rated', body);
  expect((await set({ slots: 2 })).status).toBe(400);
  expect((await rig.ask('PUT', '/v1/limits/queue:rated', { slots: 2, per: '1m' })).status).toBe(400);
  expect((await set({ slots: 2, per: '1m' })).body).toMatchObject({ name: 'rate:queue:rated', slots: 2, per: '1m' });
  await eventually(async () => !(await limitOf('rate:queue:rated')).pending);
  const ids: string[] = [];
  for (const name of ['rated-a', 'rated-b', 'rated-a'])
    ids.push((await rig.ask('POST', `/v1/dags/${name}/runs`, {})).body.id);
  const tasks = async () =>
    (await Promise.all(ids.map((id) => rig.read<RunView>(`/v1/runs/${id}`)))).map((run) => run.tasks[0]!);
  await eventually(async () => (await tasks()).filter(({ state }) => state === 'succeeded').length === 2);
  const waiting = (await tasks()).find(({ state }) => state === 'ready');
  expect(waiting?.why).toMatchObject({
    code: 'rate',
    message: 'Queue "rated" has started as many attempts as its rate allows: at most 2 per 1m.',
  });
  expect(await limitOf('rate:queue:rated')).toMatchObject({ used: 2, waiting: 1, holders: [] });
  // Per another time it is another limit, and there is one at a time.
  expect((await set({ slots: 3, per: '1h' })).body).toMatchObject({ slots: 3, per: '1h' });
  const named = (await rig.read<LimitPage>('/v1/limits')).items.filter(({ name }) => name === 'rate:queue:rated');
  expect(named).toMatchObject([{ slots: 3, per: '1h' }]);
  await eventually(async () => (await tasks()).every(({ state }) => state === 'succeeded'));
  expect((await rig.ask('DELETE', '/v1/limits/rate:queue:rated')).body).toMatchObject({ removed: true });
  expect((await rig.ask('GET', '/v1/limits/rate:queue:rated')).status).toBe(404);
});

describe('a pool', () => {
  test('says why a task waits, who has its slots, and lets it go when a slot is free', async () => {
    const pool = { pool: { name: 'database' } };
    const [first] = await run('one', pool);
    await eventually(async () => (await whyOf(first!))?.code === 'pool_missing');
    expect((await whyOf(first!))?.message).toContain('signalbox limits set pool:database');
    expect((await setLimit('pool:database', 1)).body).toMatchObject({ name: 'pool:database', slots: 1, warnings: [] });
    await eventually(async () => (await taskOf(first!))?.state === 'running');
    const [second] = await run('two', pool);
    await eventually(async () => (await whyOf(second!))?.code === 'pool_full');
    expect((await whyOf(second!))?.message).toContain(`one by work of run ${first} (dag one) since`);
    const seen = await limitOf('pool:database');
    expect(seen).toMatchObject({ granted: 1, pending: false, used: 1, waiting: 1, missing: [] });
    expect(seen.holders).toMatchObject([{ tenant: 'default', dag: 'one', run: first, task: 'work', slots: 1 }]);
    held.shift()!();
    await eventually(async () => (await taskOf(second!))?.state === 'running');
    const [large] = await run('large', { pool: { name: 'database', slots: 3 } });
    await eventually(async () => (await whyOf(large!))?.code === 'pool_too_small');
    await setLimit('pool:database', 4);
    await finishAll([first!, second!, large!]);
  });

  test('that is lowered is pending until its tasks have ended (I46)', async () => {
    await setLimit('pool:lowered', 2);
    const ids = await run('lowered', { pool: { name: 'lowered' } }, 3);
    await eventually(async () => (await limitOf('pool:lowered')).used === 2);
    expect((await setLimit('pool:lowered', 1)).body).toMatchObject({ slots: 1, granted: 2, pending: true });
    held.shift()!();
    await eventually(async () => !(await limitOf('pool:lowered')).pending);
    expect(await limitOf('pool:lowered')).toMatchObject({ used: 1, waiting: 1 });
    expect((await setLimit('pool:lowered', 0)).body).toMatchObject({ warnings: [expect.stringContaining('no slots')] });
    await setLimit('pool:lowered', 2);
    await finishAll(ids);
    expect((await rig.ask('DELETE', '/v1/limits/pool:lowered')).body).toMatchObject({ removed: true });
    expect((await rig.ask('GET', '/v1/limits/pool:lowered')).body.code).toBe('LIMIT_NOT_FOUND');
  });
});

test('limits of a task over all runs, and of the tasks of a run, are kept and say why (I44)', async () => {
  const tasks = [{ name: 'work', handler: 'hold', maxActive: 1 }];
  await rig.ask('PUT', '/v1/dags/single', { name: 'single', tasks });
  const ids: string[] = [];
  for (let i = 0; i < 2; i++) ids.push((await rig.ask('POST', '/v1/dags/single/runs', {})).body.id);
  await eventually(async () => (await taskOf(ids[0]!))?.state === 'running');
  await eventually(async () => (await whyOf(ids[1]!))?.code === 'task_limit');
  expect((await whyOf(ids[1]!))?.message).toContain(`one by work of run ${ids[0]}`);
  const pair = ['a', 'b'].map((name) => ({ name, handler: 'hold' }));
  await rig.ask('PUT', '/v1/dags/pair', { name: 'pair', maxActiveTasksPerRun: 1, tasks: pair });
  const { id } = (await rig.ask('POST', '/v1/dags/pair/runs', {})).body;
  await eventually(async () => (await taskOf(id))?.state === 'running');
  expect((await rig.read<RunView>(`/v1/runs/${id}`)).tasks[1]?.why?.code).toBe('run_limit');
  expect((await rig.read<{ maxActiveTasksPerRun: number }>('/v1/dags/pair')).maxActiveTasksPerRun).toBe(1);
  await finishAll([...ids, id]);
});

test('caps of a queue, a tenant and the cluster hold over all dags, also for what runs already', async () => {
  for (const [limit, what] of [
    ['queue:default', 'Queue "default" runs at most 2'],
    ['tenant:default', 'The tenant runs at most 2'],
    ['cluster', 'The cluster runs at most 2'],
  ] as const) {
    const before = await run('before', {}, 2);
    await eventually(async () => (await taskOf(before[1]!))?.state === 'running');
    await setLimit(limit, 2);
    await eventually(async () => !(await limitOf(limit)).pending);
    expect(await limitOf(limit)).toMatchObject({ slots: 2, granted: 2, used: 2 });
    const [after] = await run('after');
    await eventually(async () => (await whyOf(after!))?.code === 'cap_full');
    expect((await whyOf(after!))?.message).toContain(what);
    const { items } = await rig.read<{ items: LimitView[] }>('/v1/limits');
    expect(items.map(({ name }) => name)).toContain(limit);
    await rig.ask('DELETE', `/v1/limits/${limit}`);
    await eventually(async () => (await taskOf(after!))?.state === 'running');
    await finishAll([...before, after!]);
  }
});

test('a tenant sets its own pools and queues, sees its own cap, and nothing of others (I65)', async () => {
  await rig.ask('POST', '/v1/tenants', { name: 'red' });
  const made = await rig.ask('POST', '/v1/tokens', { name: 'admin', role: 'admin', tenant: 'red' });
  const headers = { authorization: `Bearer ${(made.body as unknown as { token: string }).token}` };
  const ask = (method: string, path: string, body?: unknown) => rig.ask(method, path, body, { headers });
  await setLimit('pool:shared', 3);
  await setLimit('tenant:red', 7);
  expect((await ask('GET', '/v1/limits/pool:shared')).status).toBe(404);
  expect((await ask('PUT', '/v1/limits/pool:shared', { slots: 1 })).status).toBe(200);
  expect((await ask('GET', '/v1/limits/tenant:red')).body).toMatchObject({ name: 'tenant:red', slots: 7 });
  for (const name of ['tenant:red', 'tenant:default', 'cluster'])
    expect((await ask('PUT', `/v1/limits/${name}`, { slots: 1 })).status).toBe(403);
  for (const name of ['tenant:default', 'cluster']) expect((await ask('GET', `/v1/limits/${name}`)).status).toBe(403);
  const names = (await ask('GET', '/v1/limits')).body.items.map(({ name }) => name);
  expect(names.sort()).toEqual(['pool:shared', 'tenant:red']);
  expect(await limitOf('pool:shared')).toMatchObject({ slots: 3 });
});

test.each([
  ['queue', 200, 1_000, 'queue caps'],
  ['pool', 1_000, 5_000, 'pools'],
])(
  'a tenant has a most of each kind (%s), and what it has can be changed (I68)',
  async (kind, most, mostEver, what) => {
    await rig.ask('POST', '/v1/tenants', { name: kind });
    const made = await rig.ask('POST', '/v1/tokens', { name: `${kind}-admin`, role: 'admin', tenant: kind });
    const headers = { authorization: `Bearer ${(made.body as unknown as { token: string }).token}` };
    const put = async (name: string) => {
      const { status, body } = await rig.ask('PUT', `/v1/limits/${kind}:${name}`, { slots: 1 }, { headers });
      return [status, body.code, body.detail];
    };
    expect((await put('first'))[0]).toBe(200);
    const [{ tenant_id: tenantId }] = (await rig.sql(`select tenant_id from tenant where name = '${kind}'`)) as [
      { tenant_id: number },
    ];
    const add = (prefix: string, slots: string, count: number) =>
      rig.sql(`insert into slot_limit (shard, limit_name, tenant_id, slots, no, since_no, set_at, set_by)
      select 0, '${kind}/${tenantId}/${prefix}' || i, ${tenantId}, ${slots}, 1, 1, 0, 'token:a' from generate_series(1, ${count}) i`);
    await add('set-', '1', most - 2);
    expect((await put('last'))[0]).toBe(200);
    const full = `Your tenant has ${most} ${what}, which is the most it can have.`;
    expect(await put('more')).toEqual([409, 'TOO_MANY_LIMITS', full]);
    expect((await put('first'))[0]).toBe(200);
    expect((await rig.ask('DELETE', `/v1/limits/${kind}:last`, undefined, { headers })).status).toBe(200);
    await add('gone-', 'null', mostEver - most);
    // Names of limits that were removed stay: they are bounded too, and can be used again.
    const worn = `Your tenant has ${mostEver} ${what}, with those that were removed, which is the most it can have.`;
    expect(await put('more')).toEqual([409, 'TOO_MANY_LIMITS', worn]);
    expect((await put('last'))[0]).toBe(200);
    expect((await setLimit(`${kind}:first`, 1)).status).toBe(200);
  },
);

test.each([
  ['a limit of no kind', 'disk:1', { slots: 1 }],
  ['a pool without a name', 'pool:', { slots: 1 }],
  ['less than nothing', 'pool:a', { slots: -1 }],
  ['half a slot', 'pool:a', { slots: 1.5 }],
  ['more than there can be', 'pool:a', { slots: 1_000_001 }],
  ['no slots', 'pool:a', {}],
])('%s is refused', async (_, name, body) => {
  expect((await rig.ask('PUT', `/v1/limits/${name}`, body)).status).toBe(400);
});

test('a cap of a tenant that is not there is refused, and a pool of a task that runs another dag', async () => {
  expect((await setLimit('tenant:nobody', 1)).body.code).toBe('TENANT_NOT_FOUND');
  const dag = { name: 'caller', tasks: [{ name: 'call', dag: 'other', pool: { name: 'a' }, maxActive: 2 }] };
  const { body } = await rig.ask('PUT', '/v1/dags/caller', dag);
  expect(body.problems).toMatchObject([{ path: 'tasks[0].pool' }, { path: 'tasks[0].maxActive' }]);
});
