import type { FreezePage, RunView, WorkerPage } from '@signalbox/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker({ quick: () => null });
  await rig.ask('PUT', '/v1/dags/etl', { name: 'etl', tasks: [{ name: 'work', handler: 'quick' }] });
});
afterAll(async () => {
  await rig.stop();
});

const submit = async () => (await rig.ask('POST', '/v1/dags/etl/runs', {})).body.id;
const runOf = (id: string) => rig.read<RunView>(`/v1/runs/${id}`);
const ended = (id: string) => eventually(async () => (await runOf(id)).state === 'ended');
/** What an admin of a new tenant sends. */
async function adminOf(tenant: string): Promise<{ authorization: string }> {
  await rig.ask('POST', '/v1/tenants', { name: tenant });
  const made = await rig.ask('POST', '/v1/tokens', { name: tenant, role: 'admin', tenant });
  return { authorization: `Bearer ${(made.body as unknown as { token: string }).token}` };
}
/** Until a run that is submitted now waits: servers read each second what is frozen. */
async function untilHeld(code: string): Promise<string> {
  for (;;) {
    const id = await submit();
    const deadline = performance.now() + 400;
    while (performance.now() < deadline) {
      const [task] = (await runOf(id)).tasks;
      if (task?.state === 'succeeded') break;
      if (task?.why?.code === code && performance.now() > deadline - 100) return id;
    }
  }
}

test.each([
  ['dag:etl', 'The dag is frozen, by token:'],
  ['queue:default', 'Queue "default" is frozen, by token:'],
  ['tenant:default', 'The tenant is frozen, by token:'],
  ['cluster', 'The cluster is frozen, by token:'],
])('%s is frozen: nothing starts, tasks say why, and a thaw lets them go (I46)', async (target, message) => {
  const frozen = await rig.ask('PUT', `/v1/freezes/${target}`, { reason: 'a test' });
  expect([frozen.status, frozen.body]).toMatchObject([200, { target, reason: 'a test' }]);
  const id = await untilHeld('frozen');
  const why = (await runOf(id)).tasks[0]?.why;
  expect(why?.message.startsWith(message)).toBe(true);
  expect(why?.message).toContain(': a test.');
  expect((await rig.read<FreezePage>('/v1/freezes')).items).toMatchObject([{ target, reason: 'a test' }]);
  expect((await rig.ask('DELETE', `/v1/freezes/${target}`)).body).toMatchObject({ thawed: true });
  await ended(id);
  expect((await rig.ask('DELETE', `/v1/freezes/${target}`)).body.code).toBe('FREEZE_NOT_FOUND');
  const actions = (await rig.client().listAudit()).items.map(({ action }) => action);
  expect(actions).toEqual(expect.arrayContaining(['freeze.set', 'freeze.removed']));
});

test('a cordoned worker takes nothing new until it is thawed', async () => {
  const [worker] = (await rig.read<WorkerPage>('/v1/workers')).items;
  expect((await rig.ask('PUT', `/v1/freezes/worker:${worker!.id}`, {})).status).toBe(200);
  await eventually(async () => (await rig.read<WorkerPage>('/v1/workers')).items[0]?.cordoned === true);
  const id = await untilHeld('no_worker');
  await rig.ask('DELETE', `/v1/freezes/worker:${worker!.id}`);
  await ended(id);
});

test('a tenant freezes what is its own, and neither others nor the cluster (I65)', async () => {
  const headers = await adminOf('red');
  const put = async (target: string) => (await rig.ask('PUT', `/v1/freezes/${target}`, {}, { headers })).status;
  expect([await put('cluster'), await put('tenant:default'), await put('dag:etl')]).toEqual([403, 403, 404]);
  expect([await put('tenant:red'), await put('queue:default')]).toEqual([200, 200]);
  const own = (await rig.ask('GET', '/v1/freezes', undefined, { headers })).body as unknown as FreezePage;
  expect(own.items.map(({ target }) => target).toSorted()).toEqual(['queue:default', 'tenant:red']);
  expect((await rig.read<FreezePage>('/v1/freezes')).items.map(({ target }) => target)).toEqual(['tenant:red']);
  await ended(await submit());
});

test('a tenant can not thaw what the installation froze, and reads nothing of who did it in its audit (I65, I71)', async () => {
  const headers = await adminOf('green');
  const own = async (method: string) => {
    const { status, body } = await rig.ask(method, '/v1/freezes/tenant:green', {}, { headers });
    return [status, body.code];
  };
  const freezes = async () =>
    ((await rig.ask('GET', '/v1/freezes', undefined, { headers })).body as unknown as FreezePage).items;
  const audit = async (of?: typeof headers) => {
    const { body } = await rig.ask('GET', '/v1/audit', undefined, of === undefined ? {} : { headers: of });
    const items = body.items as unknown as { action: string; target: string }[];
    return items.filter(({ target }) => target === 'tenant:green').map(({ action }) => action);
  };
  const asInstallation = (method: string, reason: string) =>
    rig.ask(method, '/v1/freezes/tenant:green', method === 'PUT' ? { reason } : undefined);
  expect((await asInstallation('PUT', 'abuse')).status).toBe(200);
  expect(await own('DELETE')).toEqual([403, 'FORBIDDEN']);
  // To freeze it oneself changes nothing about that.
  expect((await own('PUT'))[0]).toBe(200);
  expect(await own('DELETE')).toEqual([403, 'FORBIDDEN']);
  expect(await freezes()).toMatchObject([{ target: 'tenant:green', reason: 'abuse' }]);
  expect((await asInstallation('DELETE', '')).status).toBe(200);
  expect(await freezes()).toEqual([]);
  expect(await own('DELETE')).toEqual([404, 'FREEZE_NOT_FOUND']);
  expect(await audit(headers)).toEqual([]);
  expect((await audit()).filter((action) => action.startsWith('freeze.')).toSorted()).toEqual([
    'freeze.removed',
    'freeze.set',
  ]);
  // The freeze of the installation takes the place of the tenant's own.
  expect((await own('PUT'))[0]).toBe(200);
  expect((await asInstallation('PUT', 'abuse again')).body).toMatchObject({ reason: 'abuse again' });
  expect(await own('DELETE')).toEqual([403, 'FORBIDDEN']);
  expect((await asInstallation('DELETE', '')).status).toBe(200);
  // What it froze itself, it thaws.
  expect((await own('PUT'))[0]).toBe(200);
  expect((await own('DELETE'))[0]).toBe(200);
  expect((await audit(headers)).filter((action) => action.startsWith('freeze.')).toSorted()).toEqual([
    'freeze.removed',
    'freeze.set',
    'freeze.set',
  ]);
});

test('a tenant freezes a thousand things at most, and can always freeze itself (I68)', async () => {
  const headers = await adminOf('blue');
  const put = async (target: string) => {
    const { status, body } = await rig.ask('PUT', `/v1/freezes/${target}`, {}, { headers });
    return [status, body.code];
  };
  await rig.sql(`insert into frozen_target (tenant_id, kind, name, by_tenant_id, frozen_by)
    select tenant_id, 'queue', 'q' || i, tenant_id, 'token:a' from tenant, generate_series(1, 999) i where tenant.name = 'blue'`);
  expect(await put('queue:q1000')).toEqual([200, undefined]);
  expect(await put('queue:q1001')).toEqual([409, 'TOO_MANY_FREEZES']);
  expect(await put('queue:q1')).toEqual([200, undefined]);
  expect(await put('tenant:blue')).toEqual([200, undefined]);
  expect((await rig.ask('PUT', '/v1/freezes/queue:other', {})).status).toBe(200);
  await rig.ask('DELETE', '/v1/freezes/queue:other');
  await rig.ask('DELETE', '/v1/freezes/queue:q7', undefined, { headers });
  expect(await put('queue:q1001')).toEqual([200, undefined]);
});

test.each(['disk:1', 'dag:', 'dag:no-such-dag', 'tenant:nobody', 'worker:none'])(
  '%s can not be frozen',
  async (target) => {
    expect([400, 404]).toContain((await rig.ask('PUT', `/v1/freezes/${target}`, {})).status);
  },
);
