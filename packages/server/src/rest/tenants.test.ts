import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunView } from '@signalbox/protocol';
import { openQueries } from '@signalbox/store';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';
import { ownDataOf } from '../zones/zone-book.ts';

let rig: Rig;
let folder: string;
beforeAll(async () => {
  rig = await startRig();
  folder = await mkdtemp(join(tmpdir(), 'signalbox-fleet-'));
});
afterAll(async () => {
  await rig.stop();
  await rm(folder, { recursive: true, force: true });
});

const hold = ({ signal }: { signal: AbortSignal }) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

/** A tenant with an admin of its own. */
async function tenant(name: string, settings: object = {}) {
  const made = await rig.ask('POST', '/v1/tenants', { name, ...settings });
  expect([made.status, made.body.code]).toEqual([201, undefined]);
  const token = await tokenFor({ name: 'admin', role: 'admin', tenant: name });
  return { name, ask: (method: string, path: string, body?: unknown) => rig.ask(method, path, body, bearer(token)) };
}

async function tokenFor(wanted: object): Promise<string> {
  const { status, body } = await rig.ask('POST', '/v1/tokens', wanted);
  expect([status, body.code]).toEqual([201, undefined]);
  return (body as unknown as { token: string }).token;
}

type Team = Awaited<ReturnType<typeof tenant>>;

async function run(team: Team, name: string, task: object, more: object = {}) {
  const deployed = await team.ask('PUT', `/v1/dags/${name}`, { name, tasks: [{ name: 'a', ...task }], ...more });
  expect([deployed.status, deployed.body.code]).toEqual([200, undefined]);
  return (await team.ask('POST', `/v1/dags/${name}/runs`, {})).body.id;
}

const stateOf = async (team: Team, id: string) => (await team.ask('GET', `/v1/runs/${id}`)).body.tasks[0]?.state;

const ended = (team: Team, id: string) =>
  eventually(async () => (await team.ask('GET', `/v1/runs/${id}`)).body.state === 'ended');

describe('tenants', () => {
  test('are created, listed, shown, changed, suspended, resumed and deleted by admins of the first one', async () => {
    const client = rig.client();
    await client.createTenant({ name: 'blue', weight: 2, defaultPriority: 'low' });
    expect(await client.getTenant('blue')).toMatchObject({
      ...{ name: 'blue', state: 'active', weight: 2, defaultPriority: 'low', critical: false },
    });
    expect(await client.changeTenant('blue', { weight: 0.5, defaultPriority: null })).toMatchObject({
      ...{ weight: 0.5, defaultPriority: 'normal' },
    });
    expect(await client.suspendTenant('blue', { reason: 'a test' })).toMatchObject({
      ...{ state: 'suspended', reason: 'a test' },
    });
    expect(await client.resumeTenant('blue')).toMatchObject({ state: 'active', reason: null });
    expect(await client.deleteTenant('blue')).toMatchObject({ state: 'deleted' });
    const names = async (deleted: boolean) => (await client.listTenants({ deleted })).items.map(({ name }) => name);
    expect(await names(false)).not.toContain('blue');
    expect(await names(true)).toContain('blue');
    const actions = (await client.listAudit()).items.map(({ action }) => action);
    expect(actions).toEqual(
      expect.arrayContaining(['tenant.create', 'tenant.change', 'tenant.suspend', 'tenant.delete']),
    );
  });

  test.each([
    ['a name that is taken', 'POST', '/v1/tenants', { name: 'default' }, 400],
    ['a weight of zero', 'POST', '/v1/tenants', { name: 'zero', weight: 0 }, 400],
    ['nothing to change', 'PUT', '/v1/tenants/default', {}, 400],
    ['a tenant that is not there', 'POST', '/v1/tenants/nobody/suspend', {}, 404],
    ['the first one suspended', 'POST', '/v1/tenants/default/suspend', {}, 400],
    ['the first one deleted', 'DELETE', '/v1/tenants/default', undefined, 400],
    ['a token of a tenant that is not there', 'POST', '/v1/tokens', { name: 't', role: 'admin', tenant: 'no' }, 404],
    ['an operator of the fleet', 'POST', '/v1/tokens', { name: 't', role: 'operator', serves: ['*'] }, 400],
  ])('%s is refused', async (_, method, path, body, status) => {
    expect((await rig.ask(method, path, body)).status).toBe(status);
  });

  test('others neither see nor change them, and make no token that serves others (I65)', async () => {
    const [red, green] = [await tenant('red'), await tenant('green')];
    expect((await red.ask('GET', '/v1/tenants')).status).toBe(403);
    expect((await red.ask('GET', '/v1/tenants/red')).body).toMatchObject({ name: 'red' });
    const [unknown, other] = [await red.ask('GET', '/v1/tenants/green'), await red.ask('GET', '/v1/tenants/no')];
    expect([unknown.status, unknown.body.code]).toEqual([other.status, other.body.code]);
    expect((await red.ask('POST', '/v1/tenants', { name: 'mine' })).status).toBe(403);
    expect((await red.ask('POST', '/v1/tenants/green/suspend', {})).status).toBe(403);
    for (const more of [{ tenant: 'green' }, { serves: ['green'] }, { serves: ['*'] }]) {
      expect((await red.ask('POST', '/v1/tokens', { name: 'w', role: 'worker', ...more })).status).toBe(403);
    }
    const id = await run(green, 'secret-plan', { handler: 'nobody' });
    expect((await red.ask('GET', `/v1/runs/${id}`)).status).toBe(404);
  });

  test('others neither change the cluster nor read what counts the work of all (I65, I66)', async () => {
    const violet = await tenant('violet');
    const [lisbon] = await ownDataOf(['Europe/Lisbon']);
    const queries = await openQueries({ url: rig.databaseUrl });
    await queries.keepZone(lisbon!);
    await queries.close();
    const asks = [
      ['GET', '/metrics'],
      ['GET', '/v1/storage'],
      ['POST', '/v1/zones/upgrade', {}],
      ['POST', '/v1/retention/run', {}],
      ['PUT', '/v1/settings', { jitter: '1m' }],
      ['GET', '/v1/tenants'],
      ['POST', '/v1/tenants', { name: 'mine' }],
      ['PUT', '/v1/tenants/red', { weight: 2 }],
      ['POST', '/v1/tenants/red/resume', {}],
      ['DELETE', '/v1/tenants/red'],
    ] as const;
    for (const [method, path, body] of asks) {
      expect([path, (await violet.ask(method, path, body)).status]).toEqual([path, 403]);
    }
    const [ours, theirs] = [await rig.ask('GET', '/v1/zones'), await violet.ask('GET', '/v1/zones')];
    expect(JSON.stringify(ours.body)).toContain('Europe/Lisbon');
    expect(JSON.stringify(theirs.body)).not.toMatch(/europe.lisbon/i);
  });

  test('each change is in the audit with all that it changed (I71)', async () => {
    await rig.ask('POST', '/v1/tenants', { name: 'told', critical: true });
    await rig.ask('PUT', '/v1/tenants/told', { critical: false, defaultPriority: 'low' });
    await rig.ask('POST', '/v1/tenants/told/suspend', { reason: 'a test' });
    const { items } = await rig.client().listAudit();
    expect(items.filter(({ target }) => target === 'told').map(({ action, details }) => [action, details])).toEqual([
      ['tenant.suspend', { state: 'suspended', reason: 'a test' }],
      ['tenant.change', { defaultPriority: 'low', critical: false }],
      ['tenant.create', { weight: 1, defaultPriority: 'normal', critical: true }],
    ]);
    await tokenFor({ name: 'told-worker', role: 'worker', serves: ['told'], queues: ['q'], slots: 2 });
    const [token] = (await rig.client().listAudit()).items;
    expect(token?.details).toMatchObject({ role: 'worker', serves: ['told'], queues: ['q'], slots: 2 });
  });

  test('a deleted one is not suspended: its credentials would work again', async () => {
    const gone = await tenant('gone');
    await rig.ask('DELETE', '/v1/tenants/gone');
    expect((await rig.ask('POST', '/v1/tenants/gone/suspend', {})).status).toBe(400);
    expect((await rig.ask('GET', '/v1/tenants/gone')).body).toMatchObject({ state: 'deleted' });
    await eventually(async () => (await gone.ask('GET', '/v1/dags')).status === 401);
  });

  test('many created at once are all created', async () => {
    const names = Array.from({ length: 8 }, (_, no) => `crowd-${no}`);
    const made = await Promise.all(names.map((name) => rig.ask('POST', '/v1/tenants', { name })));
    expect(made.map(({ status }) => status)).toEqual(names.map(() => 201));
  });

  test('a default priority is that of dags and jobs without one', async () => {
    const calm = await tenant('calm', { defaultPriority: 'low' });
    for (const [name, more] of [
      ['quiet', {}],
      ['loud', { priority: 'high' }],
    ] as const) {
      await calm.ask('PUT', `/v1/dags/${name}`, { name, tasks: [{ name: 'a', handler: 'x' }], ...more });
    }
    expect((await calm.ask('GET', '/v1/dags/quiet')).body).toMatchObject({ priority: 'low' });
    expect((await calm.ask('GET', '/v1/dags/loud')).body).toMatchObject({ priority: 'high' });
    for (const more of [{}, { delay: '1h' }]) {
      const { id } = (await calm.ask('POST', '/v1/jobs', { run: 'true', ...more })).body;
      expect((await calm.ask('GET', `/v1/runs/${id}`)).body).toMatchObject({ priority: 'low' });
    }
  });

  test('critical needs a permission, and its use is recorded', async () => {
    const [may, mayNot] = [await tenant('may', { critical: true }), await tenant('may-not')];
    const definition = { name: 'd', tasks: [{ name: 'a', handler: 'x' }] };
    for (const team of [may, mayNot]) await team.ask('PUT', '/v1/dags/d', definition);
    const asks = (team: Team) => [
      team.ask('POST', '/v1/dags/d/runs', { priority: 'critical' }),
      team.ask('POST', '/v1/dags/d/runs/batch', { runs: [{}, { priority: 'critical' }] }),
      team.ask('PUT', '/v1/dags/e', { ...definition, name: 'e', priority: 'critical' }),
      team.ask('PUT', '/v1/dags/f', {
        ...definition,
        name: 'f',
        schedule: { cron: '0 0 * * *', priority: 'critical' },
      }),
    ];
    const refused = await Promise.all(asks(mayNot));
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(refused.map(() => [403, 'FORBIDDEN']));
    expect((await Promise.all(asks(may))).every(({ status }) => status < 300)).toBe(true);
    const audit = (await may.ask('GET', '/v1/audit?action=priority.critical')).body as unknown as { items: unknown[] };
    expect(audit.items).toHaveLength(4);
  });

  test('critical needs it also for what is made again, for backfills and for jobs', async () => {
    const may = await tenant('once-more', { critical: true });
    const schedule = { cron: '0 0 * * *', priority: 'critical' };
    await may.ask('PUT', '/v1/dags/d', { name: 'd', tasks: [{ name: 'a', handler: 'x' }], schedule });
    const { id } = (await may.ask('POST', '/v1/dags/d/runs', { priority: 'critical' })).body;
    const job = { run: 'true', priority: 'critical' };
    const asks = (team: Pick<Team, 'ask'>) => [
      team.ask('POST', `/v1/runs/${id}/rerun`, {}),
      team.ask('POST', '/v1/dags/d/backfills', { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }),
      team.ask('POST', '/v1/jobs', job),
    ];
    expect((await Promise.all(asks(may))).map(({ status }) => status)).toEqual([201, 201, 201]);
    await rig.ask('PUT', '/v1/tenants/once-more', { critical: false });
    // What a token may is believed for a few seconds; this one is new.
    const token = await tokenFor({ name: 'later', role: 'admin', tenant: 'once-more' });
    const ask = (method: string, path: string, body?: unknown) => rig.ask(method, path, body, bearer(token));
    const refused = await Promise.all(asks({ ask }));
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(refused.map(() => [403, 'FORBIDDEN']));
    const batch = (await ask('POST', '/v1/jobs/batch', { jobs: [job, { run: 'true' }] })).body as unknown as {
      items: { id: string | null; error: { code: string } | null }[];
    };
    expect(batch.items.map(({ error }) => error?.code ?? null)).toEqual(['FORBIDDEN', null]);
  });
});

describe('workers of the fleet', () => {
  test('serve the tenants of their list alone, and keep what is theirs apart', async () => {
    const [one, two, three] = [await tenant('one'), await tenant('two'), await tenant('three')];
    for (const name of ['one', 'two']) {
      await mkdir(join(folder, 'secrets', name), { recursive: true });
      await writeFile(join(folder, 'secrets', name, 'KEY'), `key of ${name}`);
    }
    const token = await tokenFor({ name: 'fleet', role: 'worker', serves: ['one', 'two'] });
    await rig.addWorker(
      {},
      {
        environment: { SIGNALBOX_SECRET_SHARED: 'of nobody' },
        token,
        queues: ['fleet'],
        cacheFolder: join(folder, 'cache'),
        secretsFolder: join(folder, 'secrets'),
      },
    );
    const code = Buffer.from(
      'export const functions = { "f": async (c) => ({ tenant: c.tenant, pid: process.pid }) };',
    );
    const bundle = createHash('sha256').update(code).digest('hex');
    const outputs: { tenant: string; pid: number }[] = [];
    for (const team of [one, two]) {
      const { status } = await team.ask('GET', '/v1/session');
      expect(status).toBe(200);
      const own = await tokenFor({ name: `deployer-${team.name}`, role: 'admin', tenant: team.name });
      await fetch(`${rig.servers[0]?.url}/v1/bundles/${bundle}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${own}`, 'content-type': 'application/octet-stream' },
        body: new Uint8Array(code),
      });
      const id = await run(team, 'f', { function: 'f', queue: 'fleet' }, { bundle });
      await eventually(async () => (await stateOf(team, id)) === 'succeeded');
      outputs.push((await team.ask('GET', `/v1/runs/${id}`)).body.tasks[0]?.output as never);
      const check = `test "$SIGNALBOX_SECRET_KEY" = "key of ${team.name}"`;
      const secret = await run(team, 's', { run: check, secrets: ['KEY'], queue: 'fleet' });
      await ended(team, secret);
      expect((await team.ask('GET', `/v1/runs/${secret}`)).body.tasks[0]).toMatchObject({
        error: null,
        state: 'succeeded',
      });
      // A variable of the worker is everybody's, so it is nobody's.
      const shared = await run(team, 'v', { run: 'true', secrets: ['SHARED'], queue: 'fleet' });
      await ended(team, shared);
      expect(await stateOf(team, shared)).toBe('failed');
    }
    expect(outputs.map((output) => output.tenant)).toEqual(['one', 'two']);
    expect(outputs[0]?.pid).not.toBe(outputs[1]?.pid);
    expect((await readdir(join(folder, 'cache'))).sort()).toEqual(['tenant-one', 'tenant-two']);
    const stranger = await run(three, 'x', { run: 'true', queue: 'fleet' });
    const ours = await run(one, 'y', { run: 'true', queue: 'fleet' });
    await eventually(async () => (await stateOf(one, ours)) === 'succeeded');
    expect(await stateOf(three, stranger)).toBe('ready');
  });

  test('count where a task waits, though the tenant does not see them (I75, I65)', async () => {
    const [served, other] = [await tenant('served'), await tenant('other')];
    const token = await tokenFor({ name: 'shared', role: 'worker', serves: ['served'] });
    await rig.addWorker({ hold }, { token, queues: ['shared'], slots: 1 });
    const holding = await run(served, 'first', { handler: 'hold', queue: 'shared' });
    await eventually(async () => (await stateOf(served, holding)) === 'running');
    const whyOf = async (team: Team) => {
      const id = await run(team, 'next', { handler: 'hold', queue: 'shared' });
      const { body } = await team.ask('GET', `/v1/runs/${id}`);
      return (body as unknown as RunView).tasks[0]?.why?.code;
    };
    expect([await whyOf(served), await whyOf(other)]).toEqual(['workers_busy', 'no_worker']);
    // What they run for others is not to be counted (I65).
    const queue = { name: 'shared', waiting: 1 };
    expect((await served.ask('GET', '/v1/queues')).body.items).toMatchObject([
      { ...queue, running: 1, workers: 1, slots: 1 },
    ]);
    expect((await other.ask('GET', '/v1/queues')).body.items).toMatchObject([
      { ...queue, running: 0, workers: 0, slots: 0 },
    ]);
    expect((await served.ask('GET', '/v1/workers')).body.items).toEqual([]);
    await served.ask('POST', `/v1/runs/${holding}/cancel`, {});
  });

  test('a suspended tenant starts nothing and changes nothing until it is resumed; others go on', async () => {
    const [held, free] = [await tenant('held'), await tenant('free')];
    const token = await tokenFor({ name: 'everybody', role: 'worker', serves: ['*'] });
    await rig.addWorker({}, { token, queues: ['all'], cacheFolder: join(folder, 'all') });
    const task = { run: 'true', queue: 'all' };
    const before = await run(held, 'before', task);
    await eventually(async () => (await stateOf(held, before)) === 'succeeded');
    // The engine reads it within a second; a run is submitted through a token that was not used yet.
    await rig.client().suspendTenant('held');
    await eventually(async () => (await held.ask('POST', '/v1/dags/before/runs', {})).body.code === 'TENANT_SUSPENDED');
    expect((await held.ask('GET', '/v1/runs')).status).toBe(200);
    // Who may read may sign in and out, and take rights away.
    const { path } = (await held.ask('POST', '/v1/login-links', {})).body as unknown as { path: string };
    const session = await fetch(`${rig.servers[0]?.url}${path}`, { redirect: 'manual' });
    const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect((await held.ask('POST', '/v1/tokens', { name: 'more', role: 'viewer' })).status).toBe(403);
    const signedOut = await fetch(`${rig.servers[0]?.url}/v1/session/end`, {
      method: 'POST',
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
    });
    expect(signedOut.status).toBe(200);
    expect((await held.ask('POST', '/v1/tokens/nobody/revoke', {})).status).toBe(404);
    const link = (await held.ask('POST', '/v1/login-links', {})).body as unknown as { path: string };
    const others = await run(free, 'free', task);
    await eventually(async () => (await stateOf(free, others)) === 'succeeded');
    await rig.client().resumeTenant('held');
    await eventually(async () => (await held.ask('POST', '/v1/dags/before/runs', {})).status === 201);
    await rig.client().deleteTenant('held');
    await eventually(async () => (await held.ask('GET', '/v1/runs')).status === 401);
    const late = await fetch(`${rig.servers[0]?.url}${link.path}`, { redirect: 'manual' });
    expect([late.status, late.headers.get('set-cookie')]).toEqual([401, null]);
  });

  test('what waits when a tenant is suspended waits until it is resumed', async () => {
    const team = await tenant('patient');
    const id = await run(team, 'waits', { run: 'true', queue: 'patient' });
    await rig.client().suspendTenant('patient');
    const token = await tokenFor({ name: 'late', role: 'worker', serves: ['*'] });
    // Long enough for each node to have read it: the worker comes after that.
    await eventually(async () => (await team.ask('POST', '/v1/dags/waits/runs', {})).body.code === 'TENANT_SUSPENDED');
    await rig.addWorker({}, { token, queues: ['patient'], cacheFolder: join(folder, 'patient') });
    expect(await stateOf(team, id)).toBe('ready');
    await rig.client().resumeTenant('patient');
    await eventually(async () => (await stateOf(team, id)) === 'succeeded');
  });
});
