/** Quotas through real servers: two of them, so that requests race over nodes and shards (I50). */
import type { NodeId } from '@signalbox/engine';
import { placeShards } from '@signalbox/host';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.addServer();
  // A shard that moves between the two later could go to one that has not read a new quota yet.
  await eventually(async () => {
    const shards = await rig.sql('select owner from shard order by shard');
    const owners = shards.map(({ owner }) => owner as NodeId | null);
    const nodes = [...new Set(owners)].filter((owner) => owner !== null);
    return nodes.length === 2 && placeShards(nodes).every((node, shard) => node === owners[shard]);
  });
});
afterAll(() => rig.stop());

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

async function team(name: string) {
  await rig.ask('POST', '/v1/tenants', { name });
  const made = await rig.ask('POST', '/v1/tokens', { name: 'admin', role: 'admin', tenant: name });
  const token = (made.body as unknown as { token: string }).token;
  const ask = (method: string, path: string, body?: unknown, server = 0) =>
    rig.ask(method, path, body, { ...bearer(token), server: rig.servers[server]! });
  return { name, ask };
}

type Team = Awaited<ReturnType<typeof team>>;

const deploy = (of: Team, name: string) =>
  of.ask('PUT', `/v1/dags/${name}`, { name, tasks: [{ name: 'a', run: 'true' }] });
const quotasOf = async (of: Team) =>
  (await of.ask('GET', `/v1/tenants/${of.name}/quotas`)).body.items as unknown as { readonly used: number }[];
/** Until the owner of each dag has read the quota: only then does a run of it count. */
async function isHeard(of: Team, dags: readonly string[]): Promise<void> {
  const used = async () => (await quotasOf(of))[0]?.used ?? 0;
  for (const dag of dags)
    await eventually(async () => {
      const before = await used();
      await of.ask('POST', `/v1/dags/${dag}/runs`, {});
      return (await used()) > before;
    });
}

test('submissions over the hard limit are refused with when to come back, however they race (I50)', async () => {
  const red = await team('red');
  const dags = Array.from({ length: 6 }, (_, i) => `dag-${i}`);
  for (const name of dags) await deploy(red, name);
  const set = await rig.ask('PUT', '/v1/tenants/red/quotas/submits', { soft: 20, hard: 40 });
  expect([set.status, set.body]).toMatchObject([200, { quota: 'submits', soft: 20, hard: 40, warnings: [] }]);
  await isHeard(red, dags);
  const before = (await quotasOf(red))[0]!.used;
  const stored = async () => Number((await red.ask('GET', '/v1/runs?limit=200')).body.items.length);
  const storedBefore = await stored();
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      red.ask('POST', `/v1/dags/${dags[i % dags.length]}/runs/batch`, { runs: [{}, {}, {}] }, i % 2),
    ),
  );
  const accepted = answers.filter(({ status }) => status === 201).length;
  expect(accepted).toBe(Math.floor((40 - before) / 3));
  for (const { status, body, headers } of answers.filter((one) => one.status !== 201)) {
    expect([status, body.code]).toEqual([429, 'QUOTA_EXCEEDED']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect((await stored()) - storedBefore).toBe(3 * accepted);
  // It is throttled, and its owner is told.
  expect(await quotasOf(red)).toMatchObject([{ quota: 'submits', level: 'hard', used: before + 3 * accepted }]);
  await eventually(async () => {
    const [weight] = await rig.sql(
      "select 1 from tenant t join quota q using (tenant_id) where t.name = 'red' and q.level > 0",
    );
    return weight !== undefined;
  });
});

test('a raise holds for its time, and is shown with its reason', async () => {
  const blue = await team('blue');
  await deploy(blue, 'b');
  await rig.ask('PUT', '/v1/tenants/blue/quotas/submits', { hard: 0 });
  await eventually(async () => (await blue.ask('POST', '/v1/dags/b/runs', {})).status === 429);
  const raised = await rig.ask('POST', '/v1/tenants/blue/quotas/submits/raise', {
    ...{ hard: 5, for: '1h', reason: 'a sale' },
  });
  expect([raised.status, raised.body]).toMatchObject([200, { hard: 0, raise: { hard: 5, reason: 'a sale' } }]);
  expect((await blue.ask('POST', '/v1/dags/b/runs', {})).status).toBe(201);
  // Setting it ends the raise.
  const set = await rig.ask('PUT', '/v1/tenants/blue/quotas/submits', { hard: 0 });
  expect(set.body).toMatchObject({ raise: null, warnings: [expect.stringContaining('The hard limit is 0')] });
  expect((await blue.ask('POST', '/v1/dags/b/runs', {})).status).toBe(429);
  const removed = await rig.ask('DELETE', '/v1/tenants/blue/quotas/submits');
  expect(removed.body).toEqual({ quota: 'submits', removed: true });
  await eventually(async () => (await blue.ask('POST', '/v1/dags/b/runs', {})).status === 201);
  const actions = (await rig.client().listAudit()).items.map(({ action }) => action);
  expect(actions).toEqual(expect.arrayContaining(['quota.set', 'quota.raise', 'quota.remove']));
});

test('new versions and runs per day are counted; the cap of tasks is changed by its quota alone', async () => {
  const green = await team('green');
  await deploy(green, 'g');
  await rig.ask('PUT', '/v1/tenants/green/quotas/deploys', { hard: 1 });
  await rig.ask('PUT', '/v1/tenants/green/quotas/runs', { hard: 2 });
  await rig.ask('PUT', '/v1/tenants/green/quotas/tasks', { hard: 7 });
  await eventually(async () => (await deploy(green, `other-${Math.random().toString(36).slice(2, 8)}`)).status === 429);
  await eventually(async () => (await green.ask('POST', '/v1/dags/g/runs', {})).status === 429);
  const over = await green.ask('POST', '/v1/dags/g/runs', {});
  expect(over.body.detail).toContain('runs per dag and day');
  const cap = await rig.ask('PUT', '/v1/limits/tenant:green', { slots: 9 });
  expect([cap.status, cap.body.code]).toEqual([409, 'LIMIT_OF_QUOTA']);
  expect((await rig.ask('GET', '/v1/limits/tenant:green')).body).toMatchObject({ slots: 7 });
});

test.each([
  ['nothing', {}],
  ['a soft limit above the hard one', { soft: 5, hard: 4 }],
  ['a negative one', { hard: -1 }],
])('a quota of %s is refused', async (_, body) => {
  expect((await rig.ask('PUT', '/v1/tenants/default/quotas/submits', body)).status).toBe(400);
});

test('a tenant sees its own quotas and sets none; those of others are not there (I65, I66)', async () => {
  const own = await team('own');
  await team('other');
  expect((await own.ask('GET', '/v1/tenants/own/quotas')).status).toBe(200);
  expect((await own.ask('GET', '/v1/tenants/other/quotas')).body.code).toBe('TENANT_NOT_FOUND');
  expect((await own.ask('PUT', '/v1/tenants/own/quotas/submits', { hard: 1 })).status).toBe(403);
});
