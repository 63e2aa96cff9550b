import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { problem, type RunView, SignalboxError } from '@signalbox/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { type Client, createClient, WaitTimedOut } from './client.ts';
import type { RetryTiming } from './request.ts';

const ID = '0190b2f0-1234-7abc-8def-0123456789ab';

interface Heard {
  readonly method: string;
  readonly path: string;
  readonly key: string | undefined;
  readonly authorization: string | undefined;
  readonly body: unknown;
}
type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const refuse = (...args: Parameters<typeof problem>): Answer => json(problem(...args).status, problem(...args));
const hangUp: Answer = (request) => request.socket.destroy();

/** A server that gives these answers in turn, the last one for ever, and a client whose time passes only in its sleeps. */
async function startScript(answers: readonly Answer[], timing: Partial<RetryTiming> = {}) {
  const heard: Heard[] = [];
  const sleeps: number[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    heard.push({
      method: request.method ?? '',
      path: request.url ?? '',
      key: request.headers['idempotency-key'] as string | undefined,
      authorization: request.headers.authorization,
      body: text === '' ? undefined : JSON.parse(text),
    });
    (answers[Math.min(heard.length, answers.length) - 1] as Answer)(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  let now = 0;
  const client = createClient({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    token: 'secret',
    timing: {
      now: () => now,
      random: () => 0.5,
      sleep: async (ms) => {
        sleeps.push(ms);
        now += ms;
      },
      ...timing,
    },
  });
  return { client, heard, sleeps };
}

const runView = (state: RunView['state']): RunView => ({
  id: ID,
  dag: 'd',
  version: 1,
  state,
  outcome: state === 'ended' ? 'succeeded' : null,
  priority: 'normal',
  parent: null,
  slowAt: null,
  until: null,
  reason: null,
  cause: 'api',
  window: null,
  windowStart: null,
  backfill: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  endedAt: state === 'ended' ? '2026-01-01T00:00:01.000Z' : null,
  reopenedAt: null,
  reopenedBy: null,
  retries: 0,
  paused: null,
  actor: 'token:ci',
  params: null,
  tasks: [],
  closingFailed: [],
  why: null,
});

const deployed = { name: 'd', version: 1, hash: 'h', changed: true };
const page = { items: [], cursor: null };
const AT = '2026-01-01T00:00:00.000Z';
const FREEZE = { target: 'dag:a', reason: 'x', since: '2026-01-01T00:00:00.000Z', by: 'token:admin' };
const RESERVATION = {
  ...{ id: '3', dag: 'a', tenant: 'default', queues: ['default'], slots: 5, from: '22:00', until: '04:00' },
  ...{ timezone: 'UTC', days: ['mon'], reason: null, window: { from: AT, until: AT }, open: true, left: 0 },
  ...{ createdAt: AT, createdBy: 'token:admin' },
};
const LIMIT = {
  ...{ name: 'pool:a', slots: 5, per: null, granted: 0, pending: false, setBy: 'token:admin', warnings: [] },
  setAt: '2026-01-01T00:00:00.000Z',
};
const LIMIT_DETAILS = { ...LIMIT, used: 0, waiting: 0, holders: [], missing: [] };
const QUOTA = {
  ...{ quota: 'submits', soft: null, hard: 5, raise: null, level: 'under', used: 0 },
  ...{ setAt: AT, setBy: 'token:a', warnings: [] },
};
const COSTS = {
  ...{ by: 'day', from: '2026-01-01', to: '2026-01-01', currency: 'EUR', items: [] },
  total: { attempts: 1, slotHours: 1, burstSlotHours: 0, cpuHours: 0, gibHours: 0, cost: 2 },
};
const RATES = {
  ...{ currency: 'EUR', slotHour: 1, cpuHour: 0, gibHour: 0, burst: null },
  classes: { critical: 3, high: 1, normal: 1, low: 1 },
  ...{ from: '2026-01-01', setAt: '2026-01-01T00:00:00.000Z', setBy: 'a' },
};
const BUDGET = {
  ...{ target: 'dag:a', amount: 5, spent: 1, currency: 'EUR' },
  ...{ setAt: '2026-01-01T00:00:00.000Z', setBy: 'a' },
};
const TENANT = {
  ...{ name: 'a', state: 'active', weight: 1, defaultPriority: 'normal', critical: false, reason: null },
  ...{ createdAt: AT, createdBy: 'token:admin', changedAt: AT },
};
const backfill = {
  ...{ id: ID, dag: 'd', schedule: 'default', from: AT, to: AT, which: 'missing', order: 'forward', until: null },
  ...{ maxActive: 4, share: 0.05, state: 'running', reason: null, actor: 'token:ci', startedAt: AT, endedAt: null },
  ...{ windows: 3, decided: 2, created: 1, skipped: 1, estimatedEndAt: null },
  runs: { active: 1, succeeded: 0, failed: 0, cancelled: 0 },
};
const retried = { run: ID, task: 't', state: 'ready' };
const none = { items: [], cursor: null };
const asset = {
  name: 'a',
  producedAt: null,
  run: null,
  dag: null,
  task: null,
  producedBy: null,
  count: 0,
  consumers: [],
};
const zones = { version: '2025b', nodes: [{ node: 'n', version: '2025b' }], zones: [] };
const raised = { version: '2025b', previous: '2025a', server: '2025b', changed: true };
const swept = { partitions: 0, runs: 3, keys: 0, complete: true };
const cancelled = { id: ID, state: 'closing', outcome: 'cancelled' };

test.each<[string, (client: Client) => Promise<unknown>, unknown, string, unknown]>([
  [
    'deployDag',
    (c) => c.deployDag({ name: 'd', tasks: [{ name: 't', handler: 'h' }] }),
    deployed,
    'PUT /v1/dags/d',
    { name: 'd', tasks: [{ name: 't', handler: 'h' }] },
  ],
  [
    'listDagNames',
    (c) => c.listDagNames({ q: 'night', show: 'failed' }),
    { items: ['nightly'], cursor: null },
    'GET /v1/dag-names?q=night&show=failed',
    undefined,
  ],
  ['listDags', (c) => c.listDags({ limit: 5 }), { items: [], cursor: null }, 'GET /v1/dags?limit=5', undefined],
  [
    'submit',
    (c) => c.submit('d', { params: { a: 1 }, priority: 'high' }),
    { id: ID },
    'POST /v1/dags/d/runs',
    { params: { a: 1 }, priority: 'high' },
  ],
  ['submit with nothing', (c) => c.submit('d'), { id: ID }, 'POST /v1/dags/d/runs', {}],
  [
    'submitMany',
    (c) => c.submitMany('d', [{ params: 1 }, {}]),
    { ids: [ID, ID] },
    'POST /v1/dags/d/runs/batch',
    { runs: [{ params: 1 }, {}] },
  ],
  ['getRun', (c) => c.getRun(ID), runView('open'), `GET /v1/runs/${ID}`, undefined],
  [
    'listRuns',
    (c) => c.listRuns({ dag: 'd', state: 'open', cursor: 'a b&c' }),
    { items: [], cursor: null },
    'GET /v1/runs?dag=d&state=open&cursor=a+b%26c',
    undefined,
  ],
  [
    'cancelRuns',
    (c) => c.cancelRuns({ dag: 'etl', state: 'queued' }),
    { dryRun: false, items: [{ run: ID, dag: 'etl', state: 'queued', refused: null }], cursor: null },
    'POST /v1/runs/cancel',
    { dag: 'etl', state: 'queued' },
  ],
  [
    'setPriority',
    (c) => c.setPriority(ID, 'high'),
    { run: ID, before: 'low', priority: 'high' },
    `POST /v1/runs/${ID}/priority`,
    { priority: 'high' },
  ],
  [
    'retryRuns',
    (c) => c.retryRuns({ dag: 'etl', dryRun: true }),
    { dryRun: true, ...page },
    'POST /v1/runs/retry',
    { dag: 'etl', dryRun: true },
  ],
  [
    'setPriorities',
    (c) => c.setPriorities({ dag: 'etl', to: 'high' }),
    { dryRun: false, items: [{ run: ID, dag: 'etl', state: 'open', before: 'low', refused: null }], cursor: null },
    'POST /v1/runs/priority',
    { dag: 'etl', to: 'high' },
  ],
  ['cancelRun', (c) => c.cancelRun(ID), cancelled, `POST /v1/runs/${ID}/cancel`, {}],
  ['pauseSchedule', (c) => c.pauseSchedule('d'), { name: 'd', paused: true }, 'POST /v1/dags/d/schedule/pause', {}],
  ['resumeSchedule', (c) => c.resumeSchedule('d'), { name: 'd', paused: false }, 'POST /v1/dags/d/schedule/resume', {}],
  [
    'setDagOwner',
    (c) => c.setDagOwner('d', 'team-a'),
    { name: 'd', owner: 'team-a', ofDefinition: null },
    'PUT /v1/dags/d/owner',
    { owner: 'team-a' },
  ],
  ['deleteDag', (c) => c.deleteDag('d'), { name: 'd', retired: true }, 'DELETE /v1/dags/d', undefined],
  ['listVersions', (c) => c.listVersions('d', { limit: 2 }), page, 'GET /v1/dags/d/versions?limit=2', undefined],
  ['listTasks', (c) => c.listTasks(ID, { state: 'failed' }), page, `GET /v1/runs/${ID}/tasks?state=failed`, undefined],
  [
    'getTaskWhy',
    (c) => c.getTaskWhy(ID, 't'),
    {
      ...{ run: ID, dag: 'd', task: 't', state: 'ready', code: 'no_worker', message: 'No worker.', until: null },
      ...{ chain: [], suggestion: null, ahead: 0, predictedStart: null, missing: [] },
    },
    `GET /v1/runs/${ID}/tasks/t/why`,
    undefined,
  ],
  [
    'listDecisions',
    (c) => c.listDecisions(ID, 't'),
    { run: ID, task: 't', ...page },
    `GET /v1/runs/${ID}/tasks/t/decisions`,
    undefined,
  ],
  ['listAttempts', (c) => c.listAttempts(ID, 't'), page, `GET /v1/runs/${ID}/tasks/t/attempts`, undefined],
  ['retryTask', (c) => c.retryTask(ID, 't'), retried, `POST /v1/runs/${ID}/tasks/t/retry`, {}],
  [
    'readLog',
    (c) => c.readLog({ run: ID, task: 't' }, { from: 3 }),
    { lines: [], next: 3, isOver: false, missing: [] },
    `GET /v1/runs/${ID}/tasks/t/attempts/last/log?from=3`,
    undefined,
  ],
  [
    'listEvents',
    (c) => c.listEvents({ dag: 'd', kinds: ['run.created', 'run.ended'], from: 'start', limit: 7 }),
    { items: [], cursor: 'AQ' },
    'GET /v1/events?dag=d&from=start&kind=run.created%2Crun.ended&limit=7',
    undefined,
  ],
  [
    'signalEvent',
    (c) => c.signalEvent('e', { a: 1 }),
    { matched: false, runs: [] },
    'POST /v1/events/e',
    { payload: { a: 1 } },
  ],
  ['listSchedules', (c) => c.listSchedules(), page, 'GET /v1/schedules', undefined],
  [
    'previewSchedule',
    (c) => c.previewSchedule({ cron: '@daily' }, { count: 2 }),
    { firings: [] },
    'POST /v1/schedules/preview',
    { schedule: { cron: '@daily' }, count: 2 },
  ],
  [
    'startBackfill',
    (c) => c.startBackfill('d', { from: AT, which: 'failed' }),
    backfill,
    'POST /v1/dags/d/backfills',
    { from: AT, which: 'failed' },
  ],
  [
    'previewBackfill',
    (c) => c.previewBackfill('d', { from: AT }),
    { dag: 'd', schedule: 'default', windows: 0, toCreate: 0, items: [] },
    'POST /v1/dags/d/backfills/preview',
    { from: AT },
  ],
  ['listBackfills', (c) => c.listBackfills({ dag: 'd' }), page, 'GET /v1/backfills?dag=d', undefined],
  ['getBackfill', (c) => c.getBackfill(ID), backfill, `GET /v1/backfills/${ID}`, undefined],
  ['pauseBackfill', (c) => c.pauseBackfill(ID), backfill, `POST /v1/backfills/${ID}/pause`, {}],
  ['resumeBackfill', (c) => c.resumeBackfill(ID), backfill, `POST /v1/backfills/${ID}/resume`, {}],
  [
    'cancelBackfill',
    (c) => c.cancelBackfill(ID, { runs: true }),
    backfill,
    `POST /v1/backfills/${ID}/cancel`,
    { runs: true },
  ],
  ['listWindows', (c) => c.listWindows('d'), page, 'GET /v1/dags/d/windows', undefined],
  ['listWorkers', (c) => c.listWorkers(), { ...page, missing: [] }, 'GET /v1/workers', undefined],
  [
    'listWorkerHistory',
    (c) => c.listWorkerHistory({ worker: 'box', kind: 'lost' }),
    page,
    'GET /v1/workers/history?worker=box&kind=lost',
    undefined,
  ],
  ['drainWorker', (c) => c.drainWorker('w'), { id: 'w', draining: true }, 'POST /v1/workers/w/drain', {}],
  ['evictWorker', (c) => c.evictWorker('w'), { id: 'w', draining: true }, 'POST /v1/workers/w/evict', {}],
  ['listNodes', (c) => c.listNodes(), { ...page, unowned: 0 }, 'GET /v1/nodes', undefined],
  ['listBlockers', (c) => c.listBlockers(), { ...page, missing: [] }, 'GET /v1/blockers', undefined],
  ['listFreezes', (c) => c.listFreezes(), page, 'GET /v1/freezes', undefined],
  ['freeze', (c) => c.freeze('dag:a', { reason: 'x' }), FREEZE, 'PUT /v1/freezes/dag%3Aa', { reason: 'x' }],
  ['thaw', (c) => c.thaw('dag:a'), { target: 'dag:a', thawed: true }, 'DELETE /v1/freezes/dag%3Aa', undefined],
  ['listReservations', (c) => c.listReservations(), page, 'GET /v1/reservations', undefined],
  [
    'createReservation',
    (c) => c.createReservation({ dag: 'a', slots: 5, from: '22:00', until: '04:00' }),
    RESERVATION,
    'POST /v1/reservations',
    { dag: 'a', slots: 5, from: '22:00', until: '04:00' },
  ],
  [
    'deleteReservation',
    (c) => c.deleteReservation('3'),
    { id: '3', deleted: true },
    'DELETE /v1/reservations/3',
    undefined,
  ],
  ['listLimits', (c) => c.listLimits(), page, 'GET /v1/limits', undefined],
  ['getLimit', (c) => c.getLimit('pool:a'), LIMIT_DETAILS, 'GET /v1/limits/pool%3Aa', undefined],
  ['setLimit', (c) => c.setLimit('pool:a', 5), LIMIT, 'PUT /v1/limits/pool%3Aa', { slots: 5 }],
  [
    'setRate',
    (c) => c.setRate('queue:a', 5, '1m'),
    { ...LIMIT, per: '1m' },
    'PUT /v1/limits/rate%3Aqueue%3Aa',
    { slots: 5, per: '1m' },
  ],
  [
    'removeLimit',
    (c) => c.removeLimit('cluster'),
    { name: 'cluster', removed: true },
    'DELETE /v1/limits/cluster',
    undefined,
  ],
  ['getCosts', (c) => c.getCosts({ by: 'task', dag: 'a b' }), COSTS, 'GET /v1/costs?by=task&dag=a+b', undefined],
  ['listRateCards', (c) => c.listRateCards(), page, 'GET /v1/costs/rates', undefined],
  [
    'setRateCard',
    (c) => c.setRateCard({ currency: 'EUR', slotHour: 1 }),
    RATES,
    'PUT /v1/costs/rates',
    { currency: 'EUR', slotHour: 1 },
  ],
  ['listBudgets', (c) => c.listBudgets(), page, 'GET /v1/costs/budgets', undefined],
  ['setBudget', (c) => c.setBudget('dag:a', 5), BUDGET, 'PUT /v1/costs/budgets/dag%3Aa', { amount: 5 }],
  ['removeBudget', (c) => c.removeBudget('tenant'), { target: 'tenant' }, 'DELETE /v1/costs/budgets/tenant', undefined],
  ['listTenants', (c) => c.listTenants({ deleted: true }), page, 'GET /v1/tenants?deleted=true', undefined],
  ['getTenant', (c) => c.getTenant('a b'), TENANT, 'GET /v1/tenants/a%20b', undefined],
  ['createTenant', (c) => c.createTenant({ name: 'a' }), TENANT, 'POST /v1/tenants', { name: 'a' }],
  ['changeTenant', (c) => c.changeTenant('a', { weight: 2 }), TENANT, 'PUT /v1/tenants/a', { weight: 2 }],
  [
    'suspendTenant',
    (c) => c.suspendTenant('a', { reason: 'x' }),
    TENANT,
    'POST /v1/tenants/a/suspend',
    { reason: 'x' },
  ],
  ['resumeTenant', (c) => c.resumeTenant('a'), TENANT, 'POST /v1/tenants/a/resume', {}],
  ['deleteTenant', (c) => c.deleteTenant('a'), TENANT, 'DELETE /v1/tenants/a', undefined],
  ['listQuotas', (c) => c.listQuotas('a'), page, 'GET /v1/tenants/a/quotas', undefined],
  ['setQuota', (c) => c.setQuota('a', 'submits', { hard: 5 }), QUOTA, 'PUT /v1/tenants/a/quotas/submits', { hard: 5 }],
  [
    'raiseQuota',
    (c) => c.raiseQuota('a', 'runs', { hard: 9, for: '2h', reason: 'x' }),
    QUOTA,
    'POST /v1/tenants/a/quotas/runs/raise',
    { hard: 9, for: '2h', reason: 'x' },
  ],
  [
    'removeQuota',
    (c) => c.removeQuota('a', 'tasks'),
    { quota: 'tasks', removed: true },
    'DELETE /v1/tenants/a/quotas/tasks',
    undefined,
  ],
  ['listTokens', (c) => c.listTokens(), page, 'GET /v1/tokens', undefined],
  [
    'createToken',
    (c) => c.createToken({ name: 'ci', role: 'viewer', expiresIn: '1d' }),
    {
      name: 'ci',
      role: 'viewer',
      token: 'sbx_1',
      expiresAt: AT,
      queues: null,
      slots: null,
      tenant: null,
      serves: null,
    },
    'POST /v1/tokens',
    { name: 'ci', role: 'viewer', expiresIn: '1d' },
  ],
  ['revokeToken', (c) => c.revokeToken('ci'), { name: 'ci', revoked: true }, 'POST /v1/tokens/ci/revoke', {}],
  ['createLoginLink', (c) => c.createLoginLink(), { path: '/login?code=x', expiresAt: AT }, 'POST /v1/login-links', {}],
  [
    'getRetention',
    (c) => c.getRetention(),
    { runDays: 30, journalDays: 7, deadLetterDays: 30 },
    'GET /v1/retention',
    undefined,
  ],
  ['runRetention', (c) => c.runRetention(), swept, 'POST /v1/retention/run', {}],
  [
    'listAssets',
    (c) => c.listAssets({ limit: 2 }),
    { items: [asset], cursor: null },
    'GET /v1/assets?limit=2',
    undefined,
  ],
  ['listExpectations', (c) => c.listExpectations({ dag: 'a' }), none, 'GET /v1/expectations?dag=a', undefined],
  ['listFolders', (c) => c.listFolders(), none, 'GET /v1/folders', undefined],
  ['getAsset', (c) => c.getAsset('s3://a'), asset, 'GET /v1/assets/s3%3A%2F%2Fa', undefined],
  ['materializeAsset', (c) => c.materializeAsset('a'), asset, 'POST /v1/assets/a/materialize', {}],
  ['getSettings', (c) => c.getSettings(), { jitterMs: 0 }, 'GET /v1/settings', undefined],
  [
    'changeSettings',
    (c) => c.changeSettings({ jitter: '5m' }),
    { jitterMs: 300_000 },
    'PUT /v1/settings',
    { jitter: '5m' },
  ],
  ['getZones', (c) => c.getZones(), zones, 'GET /v1/zones', undefined],
  ['upgradeZones', (c) => c.upgradeZones(), raised, 'POST /v1/zones/upgrade', {}],
  ['a name that would leave its path', (c) => c.submit('../x?y'), { id: ID }, 'POST /v1/dags/..%2Fx%3Fy/runs', {}],
])('%s asks for the right thing and hands out the answer', async (_, call, answer, line, body) => {
  const { client, heard } = await startScript([json(200, answer)]);
  expect(await call(client)).toEqual(answer);
  const [request] = heard;
  expect(`${request?.method} ${request?.path}`).toBe(line);
  expect(request?.body).toEqual(body);
  expect(request?.authorization).toBe('Bearer secret');
  expect(request?.key !== undefined).toBe(!line.startsWith('GET'));
});

test.each<[string, Answer]>([
  ['overload', refuse('OVERLOADED')],
  ['no owner', refuse('UNAVAILABLE', { reason: 'no owner' })],
  ['an outcome that is not known', refuse('UNKNOWN_OUTCOME')],
  ['a connection that breaks', hangUp],
  ['a proxy that found no server', (_, response) => response.writeHead(502).end('<html>bad gateway')],
  ['a proxy that is busy', (_, response) => response.writeHead(503).end()],
])('after %s a submission is sent again with the same key and body (I11, I12)', async (_, trouble) => {
  const { client, heard } = await startScript([trouble, trouble, json(200, { id: ID })]);
  expect(await client.submit('d', { params: 1 })).toEqual({ id: ID });
  expect(heard.length).toBe(3);
  expect(heard[0]?.key).toMatch(/^[0-9a-f-]{36}$/);
  expect(new Set(heard.map(({ key, body }) => JSON.stringify([key, body]))).size).toBe(1);
});

test.each([
  ['BAD_REQUEST', { problems: [{ path: 'params', message: 'is too deep' }] }],
  ['DAG_NOT_FOUND', { dag: 'd' }],
  ['IDEMPOTENCY_CONFLICT', { key: 'k' }],
  ['UNAUTHENTICATED', {}],
  ['INTERNAL', { incident: 'x' }],
  ['SCHEDULE_NOT_FOUND', { dag: 'd', reason: 'nightly' }],
] as const)('%s is handed to the caller at once, with what the server said', async (code, details) => {
  const { client, heard } = await startScript([refuse(code, details)]);
  const error = await client.submit('d').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SignalboxError);
  const said = new SignalboxError(code, details);
  expect(error).toMatchObject({ code, message: said.message });
  expect((error as SignalboxError).body()).toEqual(said.body());
  expect(heard.length).toBe(1);
});

test('the caller’s own key is the one that is sent', async () => {
  const { client, heard } = await startScript([hangUp, json(200, { id: ID })]);
  await client.submit('d', {}, { idempotencyKey: 'order-17' });
  expect(heard.map(({ key }) => key)).toEqual(['order-17', 'order-17']);
});

test('it waits as long as the server asks for, ever longer by itself, and not for ever', async () => {
  const asked = await startScript([json(503, problem('OVERLOADED'), { 'retry-after': '2' }), json(200, { id: ID })]);
  await asked.client.submit('d');
  expect(asked.sleeps).toEqual([2_150]);

  const away = await startScript([hangUp], { retryForMs: 3_000 });
  await expect(away.client.submit('d', {}, { idempotencyKey: 'k' })).rejects.toMatchObject({
    code: 'UNKNOWN_OUTCOME',
    details: { key: 'k' },
  });
  expect(away.sleeps).toEqual([150, 250, 450, 850]);
  const question = await startScript([hangUp], { retryForMs: 0 });
  await expect(question.client.getRun(ID)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(question.heard.length).toBe(1);
});

test('a caller that gives up is not kept waiting, and nothing more is sent', async () => {
  const giveUp = new AbortController();
  const { client, heard } = await startScript([
    () => giveUp.abort(new Error('enough')), // and no answer ever
  ]);
  await expect(client.submit('d', {}, { signal: giveUp.signal })).rejects.toThrow('enough');
  expect(heard.length).toBe(1);
});

test.each<[string, Answer]>([
  ['no JSON', (_, response) => response.writeHead(200).end('<html>')],
  ['another shape', json(200, { run: 1 })],
  [
    'a redirect, which would carry the credential elsewhere',
    (_, response) => response.writeHead(302, { location: '/x' }).end(),
  ],
  ['a refusal without a body', (_, response) => response.writeHead(418).end()],
])('an answer of %s is an error, not a guess', async (_, answer) => {
  const { client } = await startScript([answer], { retryForMs: 0 });
  await expect(client.getRun(ID)).rejects.toBeInstanceOf(SignalboxError);
});

test('waiting for a run asks ever more slowly until it has ended', async () => {
  const open = json(200, runView('open'));
  const { client, sleeps } = await startScript([open, open, hangUp, open, json(200, runView('ended'))]);
  expect((await client.waitForRun(ID)).outcome).toBe('succeeded');
  expect(sleeps[0]).toBe(25);

  const slow = await startScript([open]);
  const error = await slow.client.waitForRun(ID, { timeoutMs: 60_000 }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(WaitTimedOut);
  expect(slow.heard.length).toBeLessThan(100);
  expect(Math.max(...slow.sleeps)).toBe(2_000);
});

test.each<[string, Answer, string]>([
  ['ready', json(200, { status: 'ok' }), 'ok'],
  ['starting', json(503, { status: 'starting' }), 'unavailable'],
  ['away', hangUp, 'unavailable'],
])('the health of a server that is %s is an answer', async (_, answer, status) => {
  const { client, heard } = await startScript([answer]);
  expect(await client.health()).toEqual({ status });
  expect(heard.map(({ path }) => path)).toEqual(['/readyz']);
});

test('an address that is none is refused at the door', () => {
  expect(() => createClient({ url: 'localhost', token: 't' })).toThrow('give one such as');
});

test.each(['', '.', '..'])(
  'a name that is %j would lead to another path, and is refused before anything is sent',
  async (bad) => {
    const { client, heard } = await startScript([json(200, {})]);
    const calls: (() => Promise<unknown>)[] = [
      () => client.cancelTask(ID, bad),
      () => client.cancelRun(bad),
      () => client.getTask(ID, bad),
      () => client.submit(bad),
      () => client.deleteDag(bad),
      () => client.revokeToken(bad),
      () => client.signalEvent(bad),
      () => client.drainWorker(bad),
      () => client.evictWorker(bad),
      () => client.getDeadLetter(bad),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    expect(heard).toEqual([]);
  },
);
