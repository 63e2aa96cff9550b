import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import {
  API_SERVICE,
  HEALTH_SERVICE,
  loadService,
  type OfferedService,
  REFLECTION_SERVICES,
} from '@signalbox/protocol/grpc';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LogSender } from '../../testing/log-sender.ts';
import { eventually, type Rig, startRig } from '../../testing/rig.ts';
import { VERSION } from '../../version.ts';

let rig: Rig;
let client: Client;
let sender: LogSender;
let finish: () => void = () => undefined;
beforeAll(async () => {
  rig = await startRig();
  client = new Client(rig.servers[0]?.servicesAddress ?? '', credentials.createInsecure());
  sender = await LogSender.open(rig);
  await rig.addWorker({
    echo: ({ params }: { params: unknown }) => params,
    fail: () => {
      throw new Error('on purpose');
    },
    wait: () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      }),
  });
});
afterAll(async () => {
  client.close();
  await sender.close();
  await rig.stop();
});

const api = loadService('api.proto', API_SERVICE);
type Answer = Readonly<Record<string, unknown>>;

const withToken = (token = rig.token) => {
  const metadata = new Metadata();
  if (token !== '') metadata.set('authorization', `Bearer ${token}`);
  return metadata;
};

function methodOf(service: OfferedService, name: string) {
  const method = service.definition[name];
  if (method === undefined) throw new Error(name);
  return method;
}

function call(name: string, message: object, { metadata = withToken(), service = api, deadlineMs = 20_000 } = {}) {
  const { path, requestSerialize, responseDeserialize } = methodOf(service, name);
  return new Promise<Answer>((resolve, reject) => {
    const options = { deadline: Date.now() + deadlineMs };
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, message, metadata, options, (error, answer) =>
      error === null ? resolve(answer as Answer) : reject(error),
    );
  });
}

const refusal = (asked: Promise<unknown>) =>
  asked.then(
    () => null,
    (error: ServiceError) => error,
  );

const definition = (name: string, tasks: object[], more: object = {}) => JSON.stringify({ name, tasks, ...more });

async function ended(runId: string): Promise<Answer> {
  const look = () => call('GetRunStatus', { runId });
  await eventually(async () => ((await look()).run as { state: string }).state === 'ended');
  return look();
}

test('a dag is registered, read, listed, changed and deleted', async () => {
  const tasks = [
    { name: 'a', handler: 'echo' },
    { name: 'b', handler: 'echo', needs: ['a'], timeout: '5s' },
  ];
  const definitionJson = definition('grpc-dag', tasks, { schedule: { cron: '0 4 * * *' }, maxActiveRuns: 3 });
  const first = await call('RegisterDag', { definitionJson });
  expect(first).toEqual({
    name: 'grpc-dag',
    version: 1,
    hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    changed: true,
    warnings: [],
  });
  expect(await call('RegisterDag', { definitionJson })).toEqual({ ...first, changed: false });
  expect(await call('GetDag', { name: 'grpc-dag' })).toMatchObject({
    dag: {
      name: 'grpc-dag',
      version: 1,
      maxActiveRuns: 3,
      maxActiveTasks: 0,
      taskCount: 2,
      schedule: { paused: false },
    },
    tasks: [
      { name: 'a', kind: 'handler', needs: [], timeoutMs: 0 },
      { name: 'b', needs: ['a'], timeoutMs: 5_000 },
    ],
  });
  const page = await call('ListDags', { limit: 1, cursor: 'grpc-da' });
  expect(page).toMatchObject({ dags: [{ name: 'grpc-dag' }], cursor: 'grpc-dag' });
  const updated = await call('UpdateDag', { definitionJson: definition('grpc-dag', tasks.slice(0, 1)) });
  expect(updated).toMatchObject({ version: 2, changed: true });
  expect(await call('DeleteDag', { name: 'grpc-dag' })).toEqual({ name: 'grpc-dag' });
  const gone = await refusal(call('TriggerRun', { dag: 'grpc-dag' }));
  expect(gone?.code).toBe(status.NOT_FOUND);
});

test('an update of a dag that is not there is refused, and makes none', async () => {
  const definitionJson = definition('grpc-none', [{ name: 'a', handler: 'echo' }]);
  const refused = await refusal(call('UpdateDag', { definitionJson }));
  expect([refused?.code, refused?.metadata.get('signalbox-code')]).toEqual([status.NOT_FOUND, ['DAG_NOT_FOUND']]);
  expect((await refusal(call('GetDag', { name: 'grpc-none' })))?.code).toBe(status.NOT_FOUND);
});

test('a run is triggered once per key, looked at, listed, and its tasks have their outputs', async () => {
  await call('RegisterDag', { definitionJson: definition('grpc-run', [{ name: 'a', handler: 'echo' }]) });
  const request = { dag: 'grpc-run', paramsJson: '{"order":17}', priority: 'high', idempotencyKey: 'order-17' };
  const { runId } = await call('TriggerRun', request);
  expect(await call('TriggerRun', request)).toMatchObject({ runId });
  const other = await refusal(call('TriggerRun', { ...request, paramsJson: '18' }));
  expect([other?.code, other?.metadata.get('signalbox-code')]).toEqual([
    status.ALREADY_EXISTS,
    ['IDEMPOTENCY_CONFLICT'],
  ]);
  expect(await ended(String(runId))).toMatchObject({
    run: { id: runId, dag: 'grpc-run', outcome: 'succeeded', priority: 'high', cause: 'api', window: '' },
    paramsJson: '{"order":17}',
    taskCounts: { succeeded: 1 },
    failedTasks: [],
  });
  const { tasks } = await call('ListTasks', { runId });
  expect(tasks).toMatchObject([
    { name: 'a', state: 'succeeded', attempt: 1, outputJson: '{"order":17}', attempts: [{ outcome: 'succeeded' }] },
  ]);
  const { runs, cursor } = await call('ListRuns', { dag: 'grpc-run', outcome: 'succeeded' });
  expect([runs, cursor]).toMatchObject([[{ id: runId, state: 'ended' }], '']);
});

test('a run goes up to a chosen task', async () => {
  const tasks = [
    { name: 'a', handler: 'echo' },
    { name: 'b', handler: 'echo', needs: ['a'] },
  ];
  await call('RegisterDag', { definitionJson: definition('grpc-until', tasks) });
  const { runId } = await call('TriggerRun', { dag: 'grpc-until', until: 'a' });
  expect(await ended(String(runId))).toMatchObject({
    run: { outcome: 'succeeded', until: 'a' },
    taskCounts: { succeeded: 1, skipped: 1 },
  });
  const refused = await refusal(call('TriggerRun', { dag: 'grpc-until', until: 'c' }));
  expect([refused?.code, refused?.metadata.get('signalbox-code')]).toEqual([
    status.INVALID_ARGUMENT,
    ['UNTIL_INVALID'],
  ]);
});

test('a failure says which task and why; a run that hangs is cancelled', async () => {
  await call('RegisterDag', { definitionJson: definition('grpc-fail', [{ name: 'a', handler: 'fail' }]) });
  const failed = await ended(String((await call('TriggerRun', { dag: 'grpc-fail' })).runId));
  expect(failed).toMatchObject({
    run: { outcome: 'failed' },
    taskCounts: { failed: 1 },
    failedTasks: [{ name: 'a', error: expect.stringContaining('on purpose') }],
  });
  await call('RegisterDag', {
    definitionJson: definition('grpc-hang', [{ name: 'a', handler: 'echo', queue: 'nobody' }]),
  });
  const { runId } = await call('TriggerRun', { dag: 'grpc-hang' });
  expect(await call('CancelRun', { runId })).toMatchObject({ runId, outcome: 'cancelled' });
});

test('runs that fit a filter are cancelled page by page, after a dry run that changes nothing', async () => {
  await call('RegisterDag', {
    definitionJson: definition('grpc-many', [{ name: 'a', handler: 'echo', queue: 'nobody' }], { maxActiveRuns: 1 }),
  });
  const ids: string[] = [];
  for (let no = 0; no < 4; no++) ids.push(String((await call('TriggerRun', { dag: 'grpc-many' })).runId));
  const filter = { dag: 'grpc-many', state: 'queued', limit: 2 };
  const waiting = ids.slice(1).toReversed();
  const pageOf = (runIds: readonly string[]) =>
    runIds.map((runId) => ({ runId, dag: 'grpc-many', state: 'queued', refused: '' }));
  const seen = await call('CancelRuns', { ...filter, limit: 100, dryRun: true });
  expect(seen).toMatchObject({ dryRun: true, runs: pageOf(waiting), cursor: '' });
  const first = await call('CancelRuns', { ...filter, idempotencyKey: 'many-1' });
  expect(first).toMatchObject({ dryRun: false, runs: pageOf(waiting.slice(0, 2)) });
  expect(await call('CancelRuns', { ...filter, idempotencyKey: 'many-1' })).toEqual(first);
  const rest = await call('CancelRuns', { ...filter, cursor: first.cursor });
  expect(rest).toMatchObject({ runs: pageOf(waiting.slice(2)) });
  for (const [no, runId] of ids.entries()) {
    const { run } = await call('GetRunStatus', { runId });
    expect(run).toMatchObject({ outcome: no === 0 ? '' : 'cancelled' });
  }
  await call('CancelRun', { runId: ids[0] });
});

test('failed runs that fit a filter are retried page by page, after a dry run that changes nothing', async () => {
  await call('RegisterDag', { definitionJson: definition('grpc-failed', [{ name: 'a', handler: 'fail' }]) });
  const ids: string[] = [];
  for (let no = 0; no < 3; no++) ids.push(String((await call('TriggerRun', { dag: 'grpc-failed' })).runId));
  for (const runId of ids) await ended(runId);
  const newest = ids.toReversed();
  const pageOf = (runIds: readonly string[]) =>
    runIds.map((runId) => ({ runId, dag: 'grpc-failed', count: 1, refused: '' }));
  const seen = await call('RetryRuns', { dag: 'grpc-failed', dryRun: true });
  expect(seen).toMatchObject({ dryRun: true, runs: pageOf(newest), cursor: '' });
  const first = await call('RetryRuns', { dag: 'grpc-failed', limit: 2, idempotencyKey: 'failed-1' });
  expect(first).toMatchObject({ dryRun: false, runs: pageOf(newest.slice(0, 2)) });
  expect(await call('RetryRuns', { dag: 'grpc-failed', limit: 2, idempotencyKey: 'failed-1' })).toEqual(first);
  await eventually(async () =>
    JSON.stringify((await call('ListTasks', { runId: ids[2] })).tasks).includes('"attempt":2'),
  );
  expect((await refusal(call('RetryRuns', {})))?.code).toBe(status.INVALID_ARGUMENT);
});

test('a dag gets another owner, and that of its definition back', async () => {
  const tasks = [{ name: 'a', handler: 'echo' }];
  await call('RegisterDag', { definitionJson: definition('grpc-owned', tasks, { owner: 'team-a' }) });
  const owned = { name: 'grpc-owned', ofDefinition: 'team-a' };
  expect(await call('SetDagOwner', { dag: 'grpc-owned', owner: 'team-b' })).toEqual({ ...owned, owner: 'team-b' });
  expect(await call('SetDagOwner', { dag: 'grpc-owned' })).toEqual({ ...owned, owner: 'team-a' });
  expect((await refusal(call('SetDagOwner', { dag: 'nowhere' })))?.code).toBe(status.NOT_FOUND);
});

test('a failed task is retried, and an event makes a run of each dag that waits for it', async () => {
  const tasks = [{ name: 'a', handler: 'fail' }];
  await call('RegisterDag', { definitionJson: definition('grpc-retry', tasks, { on: { event: 'arrived' } }) });
  const { runs } = await call('SignalEvent', { event: 'arrived', payloadJson: '{"n":1}', idempotencyKey: 'e-1' });
  const [{ runId }] = runs as [{ runId: string }];
  expect(await ended(runId)).toMatchObject({ run: { cause: 'event', outcome: 'failed', dag: 'grpc-retry' } });
  expect(await call('RetryTask', { runId, task: 'a' })).toEqual({ runId, task: 'a' });
  await eventually(async () => JSON.stringify((await call('ListTasks', { runId })).tasks).includes('"attempt":2'));
  expect((await refusal(call('RetryTask', { runId, task: 'zzz' })))?.code).toBe(status.NOT_FOUND);
  expect(await call('SignalEvent', { event: 'nobody-waits' })).toEqual({ runs: [] });
});

test('dead letters are listed, grouped, replayed and discarded; breakers listed', async () => {
  await call('RegisterDag', { definitionJson: definition('grpc-letters', [{ name: 'a', handler: 'fail' }]) });
  const { runId } = await call('TriggerRun', { dag: 'grpc-letters' });
  await ended(String(runId));
  const { letters } = await call('ListDeadLetters', { dag: 'grpc-letters' });
  expect(letters).toMatchObject([{ runId, task: 'a', reason: 'retries', state: 'open', attempt: 1 }]);
  const [{ id, fingerprint }] = letters as [{ id: string; fingerprint: string }];
  const { groups } = await call('ListDeadLetterGroups', { dag: 'grpc-letters' });
  expect(groups).toMatchObject([{ fingerprint, count: 1, dags: [{ dag: 'grpc-letters', versions: [1], count: 1 }] }]);
  const preview = await call('ReplayDeadLetters', { dag: 'grpc-letters', latest: true, dryRun: true });
  expect(preview).toMatchObject({ dryRun: true, count: 1, dags: [{ letters: 1, newRuns: 1 }] });
  expect(await call('ReplayDeadLetters', { id })).toMatchObject({ dryRun: false, count: 1, dags: [{ runs: 1 }] });
  const again = await refusal(call('ReplayDeadLetters', { id }));
  expect([again?.code, again?.metadata.get('signalbox-code')]).toEqual([
    status.FAILED_PRECONDITION,
    ['DEAD_LETTER_CLOSED'],
  ]);
  const isOpen = async () =>
    JSON.stringify(await call('ListDeadLetters', { dag: 'grpc-letters' })).includes('"attempt":2');
  await eventually(isOpen);
  expect(await call('DiscardDeadLetters', { dag: 'grpc-letters', fingerprint })).toMatchObject({
    count: 1,
    remaining: 0,
  });
  expect(await call('ListBreakers', {})).toEqual({ breakers: [] });
  expect((await refusal(call('ResetBreaker', { dag: 'grpc-letters' })))?.code).toBe(status.NOT_FOUND);
});

test('lines of a log come as a stream, to their end with follow', async () => {
  await call('RegisterDag', { definitionJson: definition('grpc-log', [{ name: 'a', handler: 'wait' }]) });
  const runId = String((await call('TriggerRun', { dag: 'grpc-log' })).runId);
  await eventually(async () => JSON.stringify((await call('ListTasks', { runId })).tasks).includes('running'));
  await sender.send({ run: runId }, 0, ['one', { stream: 'stderr', text: 'two' }]);
  const read = (message: object) => {
    const { path, requestSerialize, responseDeserialize } = methodOf(api, 'GetTaskLogs');
    const stream = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, message, withToken());
    const lines: { no: number; stream: string; text: string }[] = [];
    stream.on('data', (line) => lines.push(line));
    const over = new Promise<number>((resolve) => {
      stream.on('error', (error: ServiceError) => resolve(error.code));
      stream.on('end', () => resolve(status.OK));
    });
    return { lines, over };
  };
  const soFar = read({ runId, task: 'a', from: 1 });
  expect([await soFar.over, soFar.lines]).toMatchObject([status.OK, [{ no: 1, stream: 'stderr', text: 'two' }]]);
  const followed = read({ runId, task: 'a', attempt: 1, follow: true });
  await eventually(() => followed.lines.length === 2);
  await sender.send({ run: runId }, 2, ['three']);
  await eventually(() => followed.lines.length === 3);
  finish();
  expect(await followed.over).toBe(status.OK);
  expect(await read({ runId, task: 'b' }).over).toBe(status.NOT_FOUND);
  expect(await read({ runId: '', task: 'b' }).over).toBe(status.INVALID_ARGUMENT);
});

test('a stream of lines ends with the credential that opened it (I66)', async () => {
  await call('RegisterDag', { definitionJson: definition('grpc-revoked', [{ name: 'a', handler: 'wait' }]) });
  const runId = String((await call('TriggerRun', { dag: 'grpc-revoked' })).runId);
  const made = await rig.ask('POST', '/v1/tokens', { name: 'grpc-reader', role: 'viewer' });
  const { path, requestSerialize, responseDeserialize } = methodOf(api, 'GetTaskLogs');
  const metadata = withToken((made.body as unknown as { token: string }).token);
  const message = { runId, task: 'a', follow: true };
  const stream = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, message, metadata);
  stream.on('data', () => undefined);
  const ended = new Promise<number>((resolve) => stream.on('error', (error: ServiceError) => resolve(error.code)));
  await eventually(async () => JSON.stringify((await call('ListTasks', { runId })).tasks).includes('running'));
  await rig.ask('POST', '/v1/tokens/grpc-reader/revoke');
  expect(await ended).toBe(status.UNAUTHENTICATED);
  finish();
});

test('workers of all servers are listed', async () => {
  const { workers } = await call('ListWorkers', {});
  expect(workers).toMatchObject([{ queues: ['default'], slots: 10, draining: false, version: VERSION }]);
});

test.each<[string, string, object, number, string]>([
  ['a definition that is no JSON', 'RegisterDag', { definitionJson: '{' }, status.INVALID_ARGUMENT, 'BAD_REQUEST'],
  ['no definition', 'RegisterDag', {}, status.INVALID_ARGUMENT, 'BAD_REQUEST'],
  [
    'a definition without a name',
    'RegisterDag',
    { definitionJson: '{"tasks":[]}' },
    status.INVALID_ARGUMENT,
    'DAG_INVALID',
  ],
  [
    'a name that leads elsewhere',
    'RegisterDag',
    { definitionJson: definition('../runs', [{ name: 'a', handler: 'h' }]) },
    status.INVALID_ARGUMENT,
    'DAG_INVALID',
  ],
  [
    'a cycle',
    'RegisterDag',
    { definitionJson: definition('c', [{ name: 'a', handler: 'h', needs: ['a'] }]) },
    status.INVALID_ARGUMENT,
    'DAG_INVALID',
  ],
  [
    'deep nesting',
    'TriggerRun',
    { dag: 'a', paramsJson: '['.repeat(5_000) + ']'.repeat(5_000) },
    status.INVALID_ARGUMENT,
    'BAD_REQUEST',
  ],
  [
    'params that would be more',
    'TriggerRun',
    { dag: 'a', paramsJson: '1},{"priority":"critical"' },
    status.INVALID_ARGUMENT,
    'BAD_REQUEST',
  ],
  [
    'params with a number that is too large',
    'TriggerRun',
    { dag: 'a', paramsJson: '{"id":9007199254740993}' },
    status.INVALID_ARGUMENT,
    'BAD_REQUEST',
  ],
  ['a priority that is none', 'TriggerRun', { dag: 'a', priority: 'urgent' }, status.INVALID_ARGUMENT, 'BAD_REQUEST'],
  [
    'a key with a line break',
    'TriggerRun',
    { dag: 'a', idempotencyKey: 'a\r\nx: y' },
    status.INVALID_ARGUMENT,
    'BAD_REQUEST',
  ],
  ['no dag', 'TriggerRun', {}, status.INVALID_ARGUMENT, 'BAD_REQUEST'],
  ['an unknown dag', 'TriggerRun', { dag: 'nobody' }, status.NOT_FOUND, 'DAG_NOT_FOUND'],
  ['a run that is none', 'GetRunStatus', { runId: "1' or '1'='1" }, status.NOT_FOUND, 'RUN_NOT_FOUND'],
  ['a way out of the path', 'CancelRun', { runId: '..' }, status.INVALID_ARGUMENT, 'BAD_REQUEST'],
  ['a page that is too large', 'ListRuns', { limit: 100_000 }, status.INVALID_ARGUMENT, 'BAD_REQUEST'],
  ['a state that is none', 'ListRuns', { state: 'any' }, status.INVALID_ARGUMENT, 'BAD_REQUEST'],
])('%s is refused by its canonical status, with what to do (I68, I69)', async (_, name, message, code, known) => {
  const refused = await refusal(call(name, message));
  expect([refused?.code, refused?.metadata.get('signalbox-code')]).toEqual([code, [known]]);
  expect(String(refused?.metadata.get('signalbox-remedy')[0])).toMatch(/\.$/);
});

test('the place of each fault travels behind the status', async () => {
  const refused = await refusal(
    call('RegisterDag', { definitionJson: definition('p', [{ name: 'a', handler: 'h', needs: ['x'] }]) }),
  );
  const [problems] = refused?.metadata.get('problems-bin') ?? [];
  expect(JSON.parse(String(problems))).toEqual([{ path: 'tasks[0].needs[0]', message: 'there is no task x' }]);
});

test('a delayed run, and a run with an id of the caller', async () => {
  await call('RegisterDag', {
    definitionJson: definition('grpc-later', [{ name: 'a', handler: 'h', queue: 'nobody' }]),
  });
  const runId = '1c7f7c5e-1d7c-4f0e-8a44-53f0a6a5e001';
  const asked = { dag: 'grpc-later', runId, at: '2031-01-01T00:00:00Z' };
  expect(await call('TriggerRun', asked)).toMatchObject({ runId, scheduledFor: '2031-01-01T00:00:00.000Z' });
  expect(await call('TriggerRun', asked)).toMatchObject({ runId, repeated: true });
  const { run } = await call('GetRunStatus', { runId });
  expect(run).toMatchObject({ state: 'scheduled', scheduledFor: '2031-01-01T00:00:00.000Z' });
  expect(await call('CancelRun', { runId })).toMatchObject({ outcome: 'cancelled' });
});

test('a job is created, listed, paused, cancelled and deleted', async () => {
  const jobJson = JSON.stringify({ run: 'true', queue: 'nobody', every: '1h', tags: ['grpc'] });
  const { id: jobId } = await call('CreateJob', { jobJson, idempotencyKey: 'grpc-job' });
  expect(await call('CreateJob', { jobJson, idempotencyKey: 'grpc-job' })).toMatchObject({ id: jobId });
  const { jobs } = await call('ListJobs', { tag: 'grpc' });
  expect(jobs).toMatchObject([{ id: jobId, state: 'scheduled', recurring: true, tags: ['grpc'] }]);
  expect(await call('PauseJob', { jobId })).toMatchObject({ state: 'paused' });
  expect(await call('ResumeJob', { jobId })).toMatchObject({ state: 'scheduled' });
  expect(await call('CancelJob', { jobId })).toMatchObject({ state: 'cancelled' });
  expect(await call('DeleteJob', { jobId })).toEqual({ id: jobId });
  const made = await call('CreateJobs', { jobsJson: ['{"run":"true","queue":"nobody"}', '{}'] });
  expect(made).toMatchObject({ created: 1, items: [{ code: '' }, { id: '', code: 'BAD_REQUEST' }] });
});

test('every call wants a credential whose role may (I66)', async () => {
  const made = await rig.ask('POST', '/v1/tokens', { name: 'grpc-viewer', role: 'viewer' });
  const viewer = withToken((made.body as unknown as { token: string }).token);
  for (const name of Object.keys(api.definition)) {
    if (name === 'GetTaskLogs' || name === 'FollowEvents') continue;
    const message = {
      definitionJson: definition('x', []),
      runId: 'x',
      task: 'x',
      dag: 'x',
      name: 'x',
      event: 'x',
      workerId: 'x',
      jobId: 'x',
      tenant: 'x',
      quota: 'submits',
      schedule: 'x',
      backfillId: 'x',
      webhookId: 'x',
      asset: 'x',
    };
    expect([name, (await refusal(call(name, message, { metadata: withToken('') })))?.code]).toEqual([
      name,
      status.UNAUTHENTICATED,
    ]);
    // Tenants are listed by those who run the installation, webhooks by admins.
    const isRead = /^(Get|List|Preview)/.test(name) && name !== 'ListTenants' && name !== 'ListWebhooks';
    const refused = await refusal(call(name, message, { metadata: viewer }));
    // An update looks first whether there is something to change.
    if (!isRead && name !== 'UpdateDag') expect([name, refused?.code]).toEqual([name, status.PERMISSION_DENIED]);
    if (isRead) expect([name, refused?.code]).not.toEqual([name, status.PERMISSION_DENIED]);
  }
});

test('health is told to anybody', async () => {
  const service = loadService('health.proto', HEALTH_SERVICE);
  const ask = (name: string) => call('Check', { service: name }, { metadata: new Metadata(), service });
  expect(await ask('')).toEqual({ status: 'SERVING' });
  expect(await ask(API_SERVICE)).toEqual({ status: 'SERVING' });
  expect((await refusal(ask('nobody')))?.code).toBe(status.NOT_FOUND);
});

test.each(REFLECTION_SERVICES)('%s tells what is offered, as a client without proto files asks', async (name) => {
  const service = loadService(`reflection-${name.split('.')[2]}.proto`, name);
  const { path, requestSerialize, responseDeserialize } = methodOf(service, 'ServerReflectionInfo');
  const ask = async (message: object, metadata = withToken()): Promise<Answer> => {
    const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata);
    return new Promise<Answer>((resolve, reject) => {
      stream.on('data', resolve);
      stream.on('error', reject);
      stream.write(message);
      stream.end();
    });
  };
  const { listServicesResponse } = await ask({ listServices: '*' });
  const names = (listServicesResponse as { service: { name: string }[] }).service.map((each) => each.name);
  expect(names).toEqual(expect.arrayContaining([API_SERVICE, HEALTH_SERVICE, ...REFLECTION_SERVICES]));
  for (const symbol of [API_SERVICE, `${API_SERVICE}.TriggerRun`, 'signalbox.v1.RunStatus']) {
    const { fileDescriptorResponse } = await ask({ fileContainingSymbol: symbol });
    const files = (fileDescriptorResponse as { fileDescriptorProto: Buffer[] }).fileDescriptorProto;
    expect(Buffer.concat(files).includes('GetTaskLogsRequest')).toBe(true);
    const [file] = api.files;
    const byName = await ask({ fileByFilename: file?.name });
    expect((byName.fileDescriptorResponse as { fileDescriptorProto: Buffer[] }).fileDescriptorProto).toEqual(files);
  }
  expect(await ask({ fileContainingSymbol: 'no.such.Thing' })).toMatchObject({
    errorResponse: { errorCode: status.NOT_FOUND },
  });
  expect((await refusal(ask({ listServices: '*' }, new Metadata())))?.code).toBe(status.UNAUTHENTICATED);
});

test('a call that takes longer than its deadline ends with it', async () => {
  const refused = await refusal(call('ListRuns', {}, { deadlineMs: -1 }));
  expect(refused?.code).toBe(status.DEADLINE_EXCEEDED);
});

test('mapped tasks are seen over gRPC as over REST: groups, counts, names and filters', async () => {
  const tasks = [
    { name: 'load', handler: 'echo', map: [1, 2, 3], rule: 'all_success' },
    { name: 'end', handler: 'echo', needs: ['load'], rule: 'all_done', when: 'true' },
  ];
  await call('RegisterDag', { definitionJson: definition('mapped', tasks) });
  const dag = await call('GetDag', { name: 'mapped' });
  expect(dag).toMatchObject({
    groups: [{ name: 'load', mapMode: 'product', mapOver: ['[1,2,3]'] }],
    onFailure: 'continue',
    maxMapSize: 10_000,
    tasks: [
      { name: 'load', group: 'load' },
      { name: 'end', rule: 'all_done', when: 'true', group: '' },
    ],
  });
  const { runId } = await call('TriggerRun', { dag: 'mapped' });
  await eventually(async () => {
    const { run } = await call('GetRunStatus', { runId });
    return (run as { outcome: string }).outcome === 'succeeded';
  });
  const { taskCounts } = await call('GetRunStatus', { runId });
  expect(taskCounts).toEqual({ succeeded: 4 });
  const listed = await call('ListTasks', { runId, group: 'load', state: 'succeeded' });
  const seen = listed.tasks as { name: string; map: object[]; instances: { total: number } | null }[];
  expect(seen.map(({ name }) => name)).toEqual(expect.arrayContaining(['load[0]', 'load[1]', 'load[2]']));
  expect(seen.find(({ name }) => name === 'load[2]')?.map).toEqual([{ group: 'load', index: 2 }]);
  const all = await call('ListTasks', { runId });
  const [load] = all.tasks as typeof seen;
  expect(load?.instances).toMatchObject({ total: 3, states: { succeeded: 3 } });
  const path = `/v1/events?run=${String(runId)}&from=start&limit=100`;
  const { body } = await rig.ask('GET', path, undefined, { headers: { accept: 'application/json' } });
  expect(JSON.stringify(body)).toContain('"task":"load[1]"');
});

test('how far a running task is comes along', async () => {
  let end: () => void = () => undefined;
  await rig.addWorker(
    {
      far: ({ progress }: { progress: (fraction: number | null, note: string) => void }) => {
        progress(0.5, 'half');
        return new Promise<void>((resolve) => {
          end = resolve;
        });
      },
    },
    { queues: ['far'] },
  );
  await rig.ask('PUT', '/v1/dags/far', { name: 'far', tasks: [{ name: 'a', handler: 'far', queue: 'far' }] });
  const { runId } = await call('TriggerRun', { dag: 'far' });
  const progressNow = async () => {
    const { tasks } = (await call('ListTasks', { runId })) as { tasks: { progress: object | null }[] };
    return tasks[0]?.progress ?? null;
  };
  await eventually(async () => (await progressNow()) !== null);
  expect(await progressNow()).toMatchObject({ fraction: 0.5, note: 'half' });
  end();
});
