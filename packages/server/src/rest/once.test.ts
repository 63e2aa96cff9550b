import { randomUUID } from 'node:crypto';
import { createClient } from '@signalbox/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';
import { isChange, OPERATIONS } from './operations/index.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker({
    echo: () => null,
    fail: () => {
      throw new Error('on purpose');
    },
  });
});
afterAll(() => rig.stop());

const client = () => createClient({ url: rig.servers[0]?.url ?? '', token: rig.token });
const definition = (name: string, more: object = {}) => ({ name, tasks: [{ name: 'a', handler: 'echo' }], ...more });

const newJob = async () => (await client().createJob({ run: 'true', queue: 'nobody', delay: '1d' })).id;

interface Change {
  readonly path: string;
  readonly body?: object;
  /** Another body for the same key. */
  readonly other?: object;
}

/** For each operation that changes something: what must be there for it, and the request. Bundles have their hash for a key. */
const CHANGES: Record<string, (name: string) => Promise<Change>> = {
  deployDag: async (name) => ({
    path: `/v1/dags/${name}`,
    body: definition(name),
    other: definition(name, { priority: 'high' }),
  }),
  deleteDag: async (name) => {
    await client().deployDag(definition(name));
    return { path: `/v1/dags/${name}` };
  },
  setDagOwner: async (name) => {
    await client().deployDag(definition(name));
    return { path: `/v1/dags/${name}/owner`, body: { owner: 'team-a' }, other: { owner: 'team-b' } };
  },
  submit: async (name) => {
    await client().deployDag(definition(name));
    return { path: `/v1/dags/${name}/runs`, body: { params: 1 }, other: { params: 2 } };
  },
  submitMany: async (name) => {
    await client().deployDag(definition(name));
    return { path: `/v1/dags/${name}/runs/batch`, body: { runs: [{}] }, other: { runs: [{}, {}] } };
  },
  pauseSchedule: async (name) => {
    await client().deployDag({ ...definition(name), schedule: { cron: '0 0 1 1 *' } });
    return { path: `/v1/dags/${name}/schedule/pause` };
  },
  resumeSchedule: async (name) => {
    await client().deployDag({ ...definition(name), schedule: { cron: '0 0 1 1 *' } });
    return { path: `/v1/dags/${name}/schedule/resume` };
  },
  createSchedule: async (name) => {
    await client().deployDag(definition(name));
    const schedule = { name: 'new', cron: '0 0 1 1 *' };
    return { path: `/v1/dags/${name}/schedules`, body: schedule, other: { ...schedule, cron: '0 0 2 1 *' } };
  },
  createSchedules: async (name) => {
    await client().deployDag(definition(name));
    const of = (cron: string) => ({ items: [{ dag: name, name: 'new', cron }] });
    return { path: '/v1/schedules', body: of('0 0 1 1 *'), other: of('0 0 2 1 *') };
  },
  editSchedule: async (name) => ({
    path: `/v1/dags/${name}/schedules/${await scheduleOf(name)}`,
    body: { cron: '0 0 3 1 *' },
    other: { cron: '0 0 4 1 *' },
  }),
  deleteSchedule: async (name) => ({ path: `/v1/dags/${name}/schedules/${await scheduleOf(name)}` }),
  pauseOneSchedule: async (name) => ({ path: `/v1/dags/${name}/schedules/${await scheduleOf(name)}/pause` }),
  resumeOneSchedule: async (name) => ({ path: `/v1/dags/${name}/schedules/${await scheduleOf(name)}/resume` }),
  createJob: async (name) => ({
    path: '/v1/jobs',
    body: { run: 'true', queue: 'nobody', delay: '1d', name },
    other: { run: 'true', queue: 'nobody', delay: '2d', name },
  }),
  createJobs: async (name) => {
    const of = (every: string) => ({
      jobs: [
        { run: 'true', queue: 'nobody', name },
        { run: 'true', queue: 'nobody', every },
      ],
    });
    return { path: '/v1/jobs/batch', body: of('1h'), other: of('2h') };
  },
  pauseJob: async () => ({ path: `/v1/jobs/${await newJob()}/pause` }),
  resumeJob: async () => ({ path: `/v1/jobs/${await newJob()}/resume` }),
  cancelJob: async () => ({ path: `/v1/jobs/${await newJob()}/cancel` }),
  deleteJob: async () => ({ path: `/v1/jobs/${await newJob()}` }),
  startBackfill: async (name) => {
    await client().deployDag(definition(name, { schedule: { cron: '0 0 1 1 *' } }));
    const range = { from: '2024-01-01T00:00:00Z', to: '2025-06-01T00:00:00Z' };
    return { path: `/v1/dags/${name}/backfills`, body: range, other: { ...range, which: 'all' } };
  },
  pauseBackfill: async (name) => ({ path: `/v1/backfills/${await backfillOf(name)}/pause` }),
  resumeBackfill: async (name) => ({ path: `/v1/backfills/${await backfillOf(name)}/resume` }),
  cancelBackfill: async (name) => ({ path: `/v1/backfills/${await backfillOf(name)}/cancel`, body: {} }),
  changeSettings: async () => ({ path: '/v1/settings', body: { jitter: '0s' }, other: { jitter: '1ms' } }),
  materializeAsset: async (name) => ({ path: `/v1/assets/${name}/materialize` }),
  upgradeZones: async () => ({ path: '/v1/zones/upgrade' }),
  cancelRun: async (name) => {
    await client().deployDag({ name, tasks: [{ name: 'a', handler: 'echo', queue: 'nobody' }] });
    return { path: `/v1/runs/${(await client().submit(name)).id}/cancel` };
  },
  retryTask: async (name) => {
    await client().deployDag({ name, tasks: [{ name: 'a', handler: 'fail' }] });
    const { id } = await client().submit(name);
    await client().waitForRun(id);
    return { path: `/v1/runs/${id}/tasks/a/retry` };
  },
  signalEvent: async (name) => {
    await client().deployDag({ ...definition(name), on: { event: name } });
    return { path: `/v1/events/${name}`, body: { payload: 1 }, other: { payload: 2 } };
  },
  sendEvent: async (name) => {
    await client().deployDag({ ...definition(name), on: { event: name } });
    return { path: '/v1/events', body: { name, payload: 1 }, other: { name, payload: 2 } };
  },
  drainWorker: async (name) => {
    await rig.addWorker({ echo: () => null }, { name, queues: ['apart'] });
    const { items } = await client().listWorkers();
    return { path: `/v1/workers/${items.find((worker) => worker.name === name)?.id}/drain` };
  },
  evictWorker: async (name) => {
    await rig.addWorker({ echo: () => null }, { name, queues: ['apart'] });
    const { items } = await client().listWorkers();
    return { path: `/v1/workers/${items.find((worker) => worker.name === name)?.id}/evict` };
  },
  scaleIn: async (name) => {
    await rig.addWorker({ echo: () => null }, { name, queues: [name] });
    return { path: `/v1/queues/${name}/scale-in`, body: { to: 0 }, other: { to: 1 } };
  },
  setLimit: async (name) => ({ path: `/v1/limits/pool:${name}`, body: { slots: 1 }, other: { slots: 2 } }),
  removeLimit: async (name) => {
    await client().setLimit(`pool:${name}`, 1);
    return { path: `/v1/limits/pool:${name}` };
  },
  freeze: async (name) => ({
    path: `/v1/freezes/queue:${name}`,
    body: { reason: 'new drivers' },
    other: { reason: 'old drivers' },
  }),
  thaw: async (name) => {
    await client().freeze(`queue:${name}`, {});
    return { path: `/v1/freezes/queue:${name}` };
  },
  createReservation: async (name) => {
    await client().deployDag(definition(name));
    const body = { dag: name, slots: 1, from: '22:00', until: '04:00' };
    return { path: '/v1/reservations', body, other: { ...body, slots: 2 } };
  },
  deleteReservation: async (name) => {
    await client().deployDag(definition(name));
    const { id } = await client().createReservation({ dag: name, slots: 1, from: '22:00', until: '04:00' });
    return { path: `/v1/reservations/${id}` };
  },
  createWebhook: async (name) => {
    await client().deployDag(definition(name));
    return { path: '/v1/webhooks', body: { dag: name }, other: { dag: name, scheme: 'github' } };
  },
  rotateWebhook: async (name) => {
    await client().deployDag(definition(name));
    const { id } = await client().createWebhook({ dag: name });
    return { path: `/v1/webhooks/${id}/rotate`, body: {}, other: { keepOld: '1h' } };
  },
  deleteWebhook: async (name) => {
    await client().deployDag(definition(name));
    return { path: `/v1/webhooks/${(await client().createWebhook({ dag: name })).id}` };
  },
  createToken: async (name) => ({
    path: '/v1/tokens',
    body: { name, role: 'viewer' },
    other: { name, role: 'operator' },
  }),
  revokeToken: async (name) => {
    await client().createToken({ name, role: 'viewer' });
    return { path: `/v1/tokens/${name}/revoke` };
  },
  createTenant: async (name) => ({
    path: '/v1/tenants',
    body: { name: tenantName(name) },
    other: { name: tenantName(name), weight: 2 },
  }),
  changeTenant: async (name) => ({
    path: `/v1/tenants/${await tenantOf(name)}`,
    body: { weight: 2 },
    other: { weight: 3 },
  }),
  suspendTenant: async (name) => ({
    path: `/v1/tenants/${await tenantOf(name)}/suspend`,
    body: { reason: 'unpaid' },
    other: { reason: 'on request' },
  }),
  resumeTenant: async (name) => ({ path: `/v1/tenants/${await tenantOf(name)}/resume` }),
  deleteTenant: async (name) => ({ path: `/v1/tenants/${await tenantOf(name)}` }),
  setQuota: async (name) => ({
    path: `/v1/tenants/${await tenantOf(name)}/quotas/submits`,
    body: { soft: 8, hard: 10 },
    other: { soft: 8, hard: 11 },
  }),
  raiseQuota: async (name) => {
    const raise = { hard: 20, for: '2h', reason: 'the end of the quarter' };
    return { path: `${await quotaOf(name)}/raise`, body: raise, other: { ...raise, hard: 30 } };
  },
  removeQuota: async (name) => ({ path: await quotaOf(name) }),
  setRateCard: async () => ({
    path: '/v1/costs/rates',
    body: { currency: 'EUR', slotHour: 0.04 },
    other: { currency: 'EUR', slotHour: 0.05 },
  }),
  setBudget: async (name) => {
    await client().deployDag(definition(name));
    return { path: `/v1/costs/budgets/dag:${name}`, body: { amount: 500 }, other: { amount: 600 } };
  },
  removeBudget: async (name) => {
    await client().deployDag(definition(name));
    await client().setBudget(`dag:${name}`, 500);
    return { path: `/v1/costs/budgets/dag:${name}` };
  },
  createLoginLink: async () => ({ path: '/v1/login-links', body: {} }),
  runRetention: async () => ({ path: '/v1/retention/run' }),
  clearTasks: async (name) => ({ path: `/v1/runs/${await failedRun(name)}/clear`, body: { tasks: ['a'] } }),
  markTasks: async (name) => ({
    path: `/v1/runs/${await waitingRun(name)}/mark`,
    body: { tasks: ['a'], as: 'succeeded' },
    other: { tasks: ['a'], as: 'skipped' },
  }),
  cancelTask: async (name) => ({ path: `/v1/runs/${await waitingRun(name)}/tasks/a/cancel` }),
  pauseRun: async (name) => ({ path: `/v1/runs/${await waitingRun(name)}/pause` }),
  resumeRun: async (name) => ({ path: `/v1/runs/${await waitingRun(name)}/resume` }),
  pauseTask: async (name) => ({ path: `/v1/runs/${await waitingRun(name)}/tasks/a/pause` }),
  resumeTask: async (name) => ({ path: `/v1/runs/${await waitingRun(name)}/tasks/a/resume` }),
  rerun: async (name) => ({ path: `/v1/runs/${await failedRun(name)}/rerun`, body: {} }),
  cancelRuns: async (name) => {
    await waitingRun(name);
    return { path: '/v1/runs/cancel', body: { dag: name } };
  },
  retryRuns: async (name) => {
    await failedRun(name);
    return { path: '/v1/runs/retry', body: { dag: name }, other: { dag: name, dryRun: true } };
  },
  setPriority: async (name) => ({
    path: `/v1/runs/${await waitingRun(name)}/priority`,
    body: { priority: 'high' },
    other: { priority: 'low' },
  }),
  setPriorities: async (name) => {
    await waitingRun(name);
    return { path: '/v1/runs/priority', body: { dag: name, to: 'high' }, other: { dag: name, to: 'low' } };
  },
  clearRuns: async (name) => {
    await failedRun(name);
    return { path: `/v1/dags/${name}/clear`, body: { states: ['failed'] } };
  },
  replayDeadLetter: async (name) => ({ path: `/v1/dead-letters/${await deadLetterOf(name)}/replay`, body: {} }),
  discardDeadLetter: async (name) => ({ path: `/v1/dead-letters/${await deadLetterOf(name)}/discard`, body: {} }),
  replayDeadLetters: async (name) => {
    await deadLetterOf(name);
    return { path: '/v1/dead-letters/replay', body: { dag: name } };
  },
  discardDeadLetters: async (name) => {
    await deadLetterOf(name);
    return { path: '/v1/dead-letters/discard', body: { dag: name } };
  },
  resetBreaker: async (name) => {
    await failedRun(name, { breaker: { minimum: 1, pause: '1h', maxPause: '1h' } });
    return { path: '/v1/breakers/reset', body: { dag: name } };
  },
  repeatCallbacks: async (name) => {
    await client().deployDag(definition(name, { callbackUrl: 'http://127.0.0.1:1/' }));
    const { id } = await client().submit(name);
    await client().waitForRun(id);
    return { path: `/v1/runs/${id}/callbacks` };
  },
};

const tenantName = (name: string): string => name.toLowerCase();

async function tenantOf(name: string): Promise<string> {
  return (await client().createTenant({ name: tenantName(name) })).name;
}

async function quotaOf(name: string): Promise<string> {
  const tenant = await tenantOf(name);
  await client().setQuota(tenant, 'submits', { soft: 8, hard: 10 });
  return `/v1/tenants/${tenant}/quotas/submits`;
}

async function scheduleOf(name: string): Promise<string> {
  await client().deployDag(definition(name));
  await client().createSchedule(name, { name: 'new', cron: '0 0 1 1 *' });
  return 'new';
}

/** One whose runs wait for a worker that never comes. */
async function backfillOf(name: string): Promise<string> {
  const tasks = [{ name: 'a', handler: 'echo', queue: 'nobody' }];
  await client().deployDag({ name, tasks, schedule: { cron: '0 0 1 1 *' } });
  return (await client().startBackfill(name, { from: '2020-01-01T00:00:00Z', maxActive: 1 })).id;
}

/** A run whose task waits for a worker that never comes. */
async function waitingRun(name: string): Promise<string> {
  await client().deployDag({ name, tasks: [{ name: 'a', handler: 'echo', queue: 'nobody' }] });
  return (await client().submit(name)).id;
}

async function failedRun(name: string, more: object = {}): Promise<string> {
  await client().deployDag({ name, tasks: [{ name: 'a', handler: 'fail' }], ...more });
  const { id } = await client().submit(name);
  await client().waitForRun(id);
  return id;
}

async function deadLetterOf(name: string): Promise<string> {
  await failedRun(name);
  return (await client().listDeadLetters({ dag: name })).items[0]?.id ?? '';
}

/** Signing out ends the credential that asks: a repeat is refused as unauthenticated (`access.test.ts`). */
const WITHOUT_KEY: ReadonlySet<string> = new Set(['endSession']);
const changes = OPERATIONS.filter(
  (operation) =>
    isChange(operation) && operation.body !== 'bytes' && operation.body !== 'lines' && !WITHOUT_KEY.has(operation.id),
);

test.each(changes)(
  '$id made twice with one key is made once, also when the first was cut off (I11, I12)',
  async ({ id, method }) => {
    const make = CHANGES[id];
    if (make === undefined) throw new Error(`${id} has no entry here.`);
    const name = `${id}-${randomUUID().slice(0, 8)}`;
    const { path, body, other } = await make(name);
    const headers = { 'idempotency-key': `key-of-${name}` };
    const send = (sent = body) => rig.ask(method, path, sent, { headers });
    const first = await send();
    expect(first.status).toBeLessThan(300);
    const again = await Promise.all([send(), send()]);
    for (const answer of again) expect([answer.status, answer.body]).toEqual([first.status, first.body]);
    if (other !== undefined) {
      const conflict = await send(other);
      expect([conflict.status, conflict.body.code]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);
    }
    // The change was made, and the server ended before it could say so.
    await rig.sql(`update request_key set status = null, answer = null, at = '-infinity' where operation = '${id}'`);
    if (id === 'drainWorker' || id === 'evictWorker') {
      await eventually(async () => (await client().listWorkers()).items.every((worker) => worker.name !== name));
    }
    const redone = await send();
    expect(redone.status).toBe(first.status);
    const makes = ['createToken', 'signalEvent', 'createJob', 'createJobs'];
    if (makes.includes(id)) expect(redone.body).toEqual(first.body);
  },
);

test('while a request is under way another with its key waits for the answer', async () => {
  await client().deployDag(definition('slow'));
  const headers = { 'idempotency-key': 'slow' };
  await rig.sql(`insert into request_key (tenant_id, operation, target, key, body_hash)
    select 1, 'deleteDag', 'slow', 'slow', encode(sha256('null'), 'hex')`);
  const waiting = rig.ask('DELETE', '/v1/dags/slow', undefined, { headers });
  await rig.sql(`update request_key set status = 200, answer = '{"name":"slow","retired":true}' where key = 'slow'`);
  expect((await waiting).body).toEqual({ name: 'slow', retired: true });
  // It was the other's to do.
  expect((await client().getDag('slow')).retiredAt).toBeNull();
});

test('a refusal is not remembered: once its reason is gone the same key may do it (I12)', async () => {
  const headers = { 'idempotency-key': 'later' };
  const remove = () => rig.ask('DELETE', '/v1/dags/later', undefined, { headers });
  expect((await remove()).body.code).toBe('DAG_NOT_FOUND');
  await client().deployDag(definition('later'));
  expect((await remove()).status).toBe(200);
});

test('a deploy that names an unknown bundle is refused, and changes nothing', async () => {
  const bundle = 'ab'.repeat(32);
  const refused = await rig.ask('PUT', '/v1/dags/coded', { ...definition('coded'), bundle });
  expect([refused.status, refused.body.code]).toEqual([404, 'BUNDLE_NOT_FOUND']);
  expect((await rig.ask('GET', '/v1/dags/coded')).status).toBe(404);
});
