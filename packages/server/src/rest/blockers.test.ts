import type { BlockerPage } from '@signalbox/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker(
    { hold: ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))) },
    { slots: 6 },
  );
});
afterAll(async () => {
  await rig.stop();
});

async function runs(name: string, task: object, count: number, more: object = {}): Promise<void> {
  const dag = { name, tasks: [{ name: 'work', handler: 'hold', ...task }], ...more };
  expect((await rig.ask('PUT', `/v1/dags/${name}`, dag)).status).toBe(200);
  for (let i = 0; i < count; i++) await rig.ask('POST', `/v1/dags/${name}/runs`, {});
}

test('what holds back the most work comes first, with what would help', async () => {
  await runs('pooled', { pool: { name: 'small' } }, 6);
  await rig.ask('PUT', '/v1/limits/pool:small', { slots: 1 });
  await runs('single', { maxActive: 1 }, 5);
  await runs('narrow', {}, 4, { maxActiveTasks: 1 });
  await runs('queued', {}, 4, { maxActiveRuns: 1 });
  await runs('nowhere', { queue: 'gpu' }, 2);
  await runs('frozen', { queue: 'cold' }, 1);
  await rig.ask('PUT', '/v1/freezes/queue:cold', {});
  const seen = async () => {
    const { items } = await rig.read<BlockerPage>('/v1/blockers');
    return items.map(({ code, subject, count }) => `${code} ${subject} ${count}`);
  };
  await eventually(
    async () => (await seen()).includes('frozen queue:cold 1') && (await seen()).includes('pool_full pool:small 5'),
  );
  expect((await seen()).slice(0, 2)).toEqual(['pool_full pool:small 5', 'task_limit dag:single task:work 4']);
  expect((await seen()).slice(2).toSorted()).toEqual([
    'frozen queue:cold 1',
    'limit dag:narrow 3',
    'no_worker queue:gpu 2',
    'run_queued dag:queued 3',
  ]);
  const page = await rig.read<BlockerPage>('/v1/blockers');
  expect(page.items[0]).toMatchObject({
    message: 'The slots of pool "small" are in use.',
    remedy: 'See who has them: signalbox limits show pool:small',
  });
  expect(page.missing).toEqual([]);
});

test('a pool that is missing or too small is not said to be in use', async () => {
  await runs('unset', { pool: { name: 'unset' } }, 1);
  await runs('wide', { pool: { name: 'narrow', slots: 3 } }, 1);
  await rig.ask('PUT', '/v1/limits/pool:narrow', { slots: 2 });
  const of = async (subject: string) =>
    (await rig.read<BlockerPage>('/v1/blockers')).items.find((item) => item.subject === subject);
  await eventually(async () => (await of('pool:unset')) !== undefined && (await of('pool:narrow')) !== undefined);
  expect(await of('pool:unset')).toMatchObject({
    code: 'pool_missing',
    message: 'Pool "unset" is not set.',
    remedy: 'Set it: signalbox limits set pool:unset <slots>',
  });
  expect(await of('pool:narrow')).toMatchObject({
    code: 'pool_too_small',
    message: 'Pool "narrow" has fewer slots than a task takes.',
  });
});

/** What an admin of a new tenant sends. */
async function adminOf(tenant: string): Promise<{ authorization: string }> {
  await rig.ask('POST', '/v1/tenants', { name: tenant });
  const made = await rig.ask('POST', '/v1/tokens', { name: tenant, role: 'admin', tenant });
  return { authorization: `Bearer ${(made.body as unknown as { token: string }).token}` };
}

test('a suspended tenant is told so, not that something is frozen', async () => {
  const headers = await adminOf('blue');
  const dag = { name: 'held', tasks: [{ name: 'work', handler: 'hold' }] };
  await rig.ask('PUT', '/v1/dags/held', dag, { headers });
  expect((await rig.ask('POST', '/v1/dags/held/runs', {}, { headers })).status).toBe(201);
  expect((await rig.ask('POST', '/v1/tenants/blue/suspend', { reason: 'a test' })).status).toBe(200);
  const first = async () =>
    ((await rig.ask('GET', '/v1/blockers', undefined, { headers })).body as unknown as BlockerPage).items[0];
  await eventually(async () => (await first())?.message.includes('suspended') === true);
  expect(await first()).toMatchObject({
    code: 'frozen',
    subject: 'queue:default',
    message: 'The tenant is suspended, so nothing of queue "default" starts.',
    remedy: 'Ask the administrators of the installation to resume it.',
  });
});

test('another tenant sees nothing of it (I65)', async () => {
  const headers = await adminOf('red');
  expect((await rig.ask('GET', '/v1/blockers', undefined, { headers })).body.items).toEqual([]);
});
