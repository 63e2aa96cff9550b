/** Costs: sums of what attempts took, in money. */
import type { AttemptPage, BudgetPage, Costs, EventPage, RunPage } from '@signalbox/protocol';
import { openQueries } from '@signalbox/store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BudgetWatch } from '../costs/budget-watch.ts';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

const DAY_MS = 86_400_000;
let rig: Rig;

beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker({ echo: () => null });
  await rig.ask('PUT', '/v1/dags/etl', {
    name: 'etl',
    tasks: [
      { name: 'list', handler: 'echo' },
      { name: 'load', handler: 'echo', map: { over: [1, 2, 3] } },
    ],
  });
});
afterAll(() => rig.stop());

const rates = (more: object = {}) => rig.ask('PUT', '/v1/costs/rates', { currency: 'EUR', slotHour: 3_600, ...more });

test('without a rate card nothing is summed, and currencies are not mixed', async () => {
  expect(await rig.read<Costs>('/v1/costs')).toMatchObject({ currency: null, items: [], total: { cost: 0 } });
  expect(await rates({ currency: 'euro' })).toMatchObject({ status: 400 });
  expect(await rates()).toMatchObject({ status: 200, body: { classes: { critical: 3, normal: 1 }, burst: null } });
  expect(await rates({ currency: 'USD' })).toMatchObject({ status: 400 });
  const { body } = await rig.ask('GET', '/v1/audit?action=rates.set');
  expect(body.items).toHaveLength(1);
});

test('what attempts took is told by day, dag and task, in JSON and in a file', async () => {
  await rates();
  // Servers look at the settings every few seconds.
  await eventually(async () => {
    const { body } = await rig.ask('POST', '/v1/dags/etl/runs', {});
    await eventually(async () => (await rig.ask('GET', `/v1/runs/${body.id}`)).body.state === 'ended');
    return (await rig.read<Costs>('/v1/costs')).total.attempts > 0;
  }, 20_000);
  await rig.sql(`update usage_rollup set slot_ms = 0, cpu_ms = 0, memory_mib_ms = 0;
    update usage_rollup set slot_ms = 500 * attempts where task_no >= 0;
    update usage_rollup set slot_ms = 1000 * attempts where task_no < 0;
    update usage_hour set slot_ms = (select sum(slot_ms) from usage_rollup)`);
  const [run] = (await rig.read<RunPage>('/v1/runs?dag=etl')).items;
  const ofTask = await rig.read<AttemptPage>(`/v1/runs/${run?.id}/tasks/list/attempts`);
  expect(ofTask.items[0]?.cost?.currency).toBe('EUR');
  expect(ofTask.items[0]?.cost?.amount).toBeGreaterThan(0);
  const today = new Date().toISOString().slice(0, 10);
  const byDay = await rig.read<Costs>('/v1/costs?by=day');
  const { attempts } = byDay.total;
  expect(byDay.items).toMatchObject([{ name: today, attempts }]);
  const byTask = await rig.read<Costs>('/v1/costs?by=task&dag=etl');
  expect(byTask.items.map(({ name }) => name)).toEqual(['load', 'list']);
  const [load, list] = byTask.items;
  // 3,600 an hour is 1 a second.
  expect([load?.cost, list?.cost]).toEqual([load?.attempts, (list?.attempts ?? 0) / 2]);
  expect(await rig.read<Costs>('/v1/costs?by=dag')).toMatchObject({
    items: [{ name: 'etl', cost: byTask.total.cost }],
    total: byTask.total,
  });
  const file = await fetch(`${rig.servers[0]?.url}/v1/costs?by=task&dag=etl&format=csv`, {
    headers: { authorization: `Bearer ${rig.token}` },
  });
  expect(file.headers.get('content-type')).toContain('text/csv');
  expect((await file.text()).split('\r\n')).toEqual([
    'task,attempts,slot hours,burst slot hours,cpu hours,GiB hours,cost (EUR)',
    expect.stringMatching(/^load,\d+,/),
    expect.stringMatching(/^list,\d+,/),
    expect.stringMatching(/^total,\d+,/),
    '',
  ]);
});

test.each([
  ['by=task', 'dag'],
  ['by=week', 'by'],
  ['from=2026-02-02&to=2026-02-01', 'from'],
  ['from=2020-02-02', 'from'],
  ['from=yesterday', 'from'],
])('a question that makes no sense is refused: %s', async (query, field) => {
  const answer = await rig.ask('GET', `/v1/costs?${query}`);
  expect(answer).toMatchObject({ status: 400 });
  expect(JSON.stringify(answer.body)).toContain(field);
});

test('a budget that is crossed is an event, once in a month', async () => {
  await rates();
  expect(await rig.ask('PUT', '/v1/costs/budgets/dag:gone', { amount: 1 })).toMatchObject({ status: 404 });
  expect(await rig.ask('PUT', '/v1/costs/budgets/dag:etl', { amount: 0.01 })).toMatchObject({
    status: 200,
    body: { target: 'dag:etl', amount: 0.01, currency: 'EUR' },
  });
  await rig.ask('PUT', '/v1/costs/budgets/tenant', { amount: 1_000_000 });
  await rig.sql(`
    insert into usage_rollup (shard, dag_id, day, version_no, task_no, priority, tenant_id, attempts, slot_ms, cpu_ms, memory_mib_ms)
      select shard, dag_id, ${Math.floor(Date.now() / DAY_MS)}, 1, 0, 0, tenant_id, 1, 5000, 0, 0 from dag where name = 'etl';
    insert into usage_hour (shard, tenant_id, hour, slot_ms) select 63, 1, ${Math.floor(Date.now() / DAY_MS) * 24}, 5000`);
  const queries = await openQueries({ url: rig.databaseUrl });
  const { host } = rig.servers[0] as (typeof rig.servers)[number];
  const watch = new BudgetWatch({ queries, ask: (...asked) => host.ask(...asked), now: Date.now, tell: () => {} });
  try {
    expect([await watch.runOnce(), await watch.runOnce()]).toEqual([1, 1]);
  } finally {
    await queries.close();
  }
  const events = async () => (await rig.read<EventPage>('/v1/events?from=start&kind=budget.crossed')).items;
  await eventually(async () => (await events()).length > 0);
  const [event, ...more] = await events();
  expect(more).toEqual([]);
  // 5 s as critical.
  expect(event?.details).toMatchObject({ budget: 'dag:etl', amount: 0.01, currency: 'EUR' });
  expect(event?.details['spent']).toBeGreaterThanOrEqual(15);
  const { items } = await rig.read<BudgetPage>('/v1/costs/budgets');
  expect(items.map(({ target }) => target)).toEqual(['tenant:default', 'dag:etl']);
  expect(await rig.ask('DELETE', '/v1/costs/budgets/dag:etl')).toMatchObject({ status: 200 });
  expect(await rig.ask('DELETE', '/v1/costs/budgets/dag:etl')).toMatchObject({ status: 404 });
});

test('tenants are told apart, and only admins of the first see all (I65)', async () => {
  await rates();
  await rig.ask('POST', '/v1/tenants', { name: 'other' });
  const made = await rig.ask('POST', '/v1/tokens', { name: 'boss', role: 'admin', tenant: 'other' });
  const headers = { authorization: `Bearer ${(made.body as unknown as { token: string }).token}` };
  const ask = (method: 'GET' | 'PUT', path: string, body?: object) => rig.ask(method, path, body, { headers });
  expect((await ask('GET', '/v1/costs')).body).toMatchObject({ items: [], total: { attempts: 0 } });
  expect(await ask('GET', '/v1/costs?by=tenant')).toMatchObject({ status: 403 });
  expect(await ask('PUT', '/v1/costs/rates', { currency: 'EUR' })).toMatchObject({ status: 403 });
  expect(await ask('PUT', '/v1/costs/budgets/tenant:default', { amount: 1 })).toMatchObject({ status: 403 });
  expect(await ask('PUT', '/v1/costs/budgets/dag:etl', { amount: 1 })).toMatchObject({ status: 404 });
  expect((await ask('GET', '/v1/costs/budgets')).body.items).toEqual([]);
  expect(await rig.ask('PUT', '/v1/costs/budgets/tenant:other', { amount: 7 })).toMatchObject({ status: 200 });
  expect((await ask('GET', '/v1/costs/budgets')).body.items).toMatchObject([{ target: 'tenant:other', spent: 0 }]);
  expect((await rig.read<Costs>('/v1/costs?by=tenant')).items.map(({ name }) => name)).toEqual(['default']);
});
