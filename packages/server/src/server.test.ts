import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from './testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker({
    echo: ({ params }: { params: unknown }) => params,
    join: ({ upstream }: { upstream: object }) => Object.values(upstream).join('+'),
    told: ({ failedUpstream, inputs }: { failedUpstream: unknown; inputs: object }) => [failedUpstream, inputs],
    fail: () => {
      throw new Error('on purpose');
    },
    hang: ({ signal }: { signal: AbortSignal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  });
});
afterAll(() => rig.stop());

const deploy = (name: string, tasks: object[], more: object = {}) =>
  rig.ask('PUT', `/v1/dags/${name}`, { name, tasks, ...more });
const ended = async (id: string) => {
  let run = (await rig.ask('GET', `/v1/runs/${id}`)).body;
  await eventually(async () => {
    run = (await rig.ask('GET', `/v1/runs/${id}`)).body;
    return run.state === 'ended';
  });
  return run;
};

test('a run goes from submission through a worker to its end, over real sockets', async () => {
  const tasks = [
    { name: 'a', handler: 'echo' },
    { name: 'b', handler: 'echo' },
    { name: 'c', handler: 'join', needs: ['a', 'b'] },
  ];
  const deployed = await deploy('path', tasks);
  expect(deployed.body).toMatchObject({ name: 'path', version: 1, changed: true });
  expect((await deploy('path', tasks)).body).toMatchObject({ version: 1, changed: false });

  const submitted = await rig.ask('POST', '/v1/dags/path/runs', { params: 7 });
  expect(submitted.status).toBe(201);
  const run = await ended(submitted.body.id);
  expect(run).toMatchObject({ dag: 'path', version: 1, outcome: 'succeeded', params: 7, cause: 'api' });
  expect(run.actor).toBe('token:admin');
  expect(run.tasks.map(({ state }) => state)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  expect(run.tasks[2]?.output).toBe('7+7');
  expect(run.tasks[2]?.attempts).toHaveLength(1);
});

test('what is accepted is visible at once (I10)', async () => {
  await deploy('visible', [{ name: 'a', handler: 'echo', queue: 'nobody' }]);
  for (let i = 0; i < 20; i++) {
    const { id } = (await rig.ask('POST', '/v1/dags/visible/runs', {})).body;
    expect((await rig.ask('GET', `/v1/runs/${id}`)).body).toMatchObject({ id, state: 'open', outcome: null });
  }
});

test('a failure shows its attempts, and what it kept from running', async () => {
  await deploy('failing', [
    { name: 'a', handler: 'fail', retries: { maxAttempts: 2, baseMs: 1, maxMs: 1 } },
    { name: 'b', handler: 'echo', needs: ['a'] },
  ]);
  const run = await ended((await rig.ask('POST', '/v1/dags/failing/runs', {})).body.id);
  expect(run.outcome).toBe('failed');
  expect(run.tasks[0]).toMatchObject({ state: 'failed', attempt: 2, error: expect.stringContaining('on purpose') });
  expect(run.tasks[0]?.attempts.map(({ outcome }) => outcome)).toEqual(['transient', 'transient']);
  expect(run.tasks[1]).toMatchObject({ state: 'upstream_failed', attempt: 0 });
});

test('conditions, branches, rules and policies are decided, and show why a task never ran', async () => {
  const tasks = [
    { name: 'a', handler: 'echo' },
    { name: 'bad', handler: 'fail' },
    { name: 'yes', handler: 'echo', when: "tasks.a.output.kind == 'full'" },
    { name: 'no', handler: 'echo', when: '${{ params.kind != "full" }}' },
    { name: 'odd', handler: 'echo', when: 'tasks.a.output.kind > 3' },
    { name: 'mend', handler: 'told', needs: ['a', 'bad'], rule: 'one_failed' },
    { name: 'on', handler: 'told', needs: ['a', 'bad'], inputs: { gone: '${{ tasks.bad.output.x }}' } },
  ];
  await deploy('graph', tasks, { onFailure: 'skip_failed' });
  const run = await ended((await rig.ask('POST', '/v1/dags/graph/runs', { params: { kind: 'full' } })).body.id);
  expect(run.outcome).toBe('failed');
  expect(Object.fromEntries(run.tasks.map(({ state }, no) => [tasks[no]?.name, state]))).toEqual({
    a: 'succeeded',
    bad: 'failed',
    yes: 'succeeded',
    no: 'skipped',
    odd: 'failed',
    mend: 'succeeded',
    on: 'succeeded',
  });
  expect(run.tasks[4]).toMatchObject({ attempt: 0, error: expect.stringContaining('text > number has no answer') });
  expect(run.tasks[6]?.output).toEqual([['bad'], { gone: null }]);
  expect((await rig.ask('GET', '/v1/dags/graph')).body).toMatchObject({
    onFailure: 'skip_failed',
    tasks: expect.arrayContaining([expect.objectContaining({ name: 'mend', rule: 'one_failed', when: null })]),
  });
});

test('one key, one outcome (I11)', async () => {
  await deploy('keyed', [{ name: 'a', handler: 'echo' }]);
  const headers = { 'idempotency-key': 'order-17' };
  const submit = (params: unknown) => rig.ask('POST', '/v1/dags/keyed/runs', { params }, { headers });
  const first = await submit({ order: 17 });
  const many = await Promise.all(Array.from({ length: 20 }, () => submit({ order: 17 })));
  for (const again of many) expect([again.status, again.body]).toEqual([first.status, first.body]);
  const other = await submit({ order: 18 });
  expect([other.status, other.body.code]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);
  expect(other.headers.get('content-type')).toContain('application/problem+json');
  expect((await rig.ask('GET', '/v1/runs?dag=keyed')).body.items).toHaveLength(1);
});

test('a batch is one answer for all of its runs, and the same again with its key (I13)', async () => {
  await deploy('bulk', [{ name: 'a', handler: 'echo' }]);
  const runs = Array.from({ length: 1000 }, (_, i) => ({ params: i }));
  const headers = { 'idempotency-key': 'bulk-1' };
  const first = await rig.ask('POST', '/v1/dags/bulk/runs/batch', { runs }, { headers });
  expect([first.status, new Set(first.body.ids).size]).toEqual([201, 1000]);
  const again = await rig.ask('POST', '/v1/dags/bulk/runs/batch', { runs }, { headers });
  expect(again.body).toEqual(first.body);
  expect(await ended(first.body.ids[999] ?? '')).toMatchObject({ params: 999, outcome: 'succeeded' });
});

test('a batch with one bad item stores nothing, and names the item (I13)', async () => {
  await deploy('strict', [{ name: 'a', handler: 'echo' }]);
  const refused = await rig.ask('POST', '/v1/dags/strict/runs/batch', { runs: [{}, { priority: 'urgent' }] });
  expect([refused.status, refused.body.problems[0]?.path]).toEqual([400, 'runs[1].priority']);
  expect((await rig.ask('GET', '/v1/runs?dag=strict')).body.items).toEqual([]);
});

test('cancel wins, stops what runs, and is told the same when asked again (I42)', async () => {
  await deploy('endless', [{ name: 'a', handler: 'hang' }]);
  const { id } = (await rig.ask('POST', '/v1/dags/endless/runs', {})).body;
  await eventually(async () => (await rig.ask('GET', `/v1/runs/${id}`)).body.tasks[0]?.state === 'running');
  const cancelled = await rig.ask('POST', `/v1/runs/${id}/cancel`);
  expect([cancelled.status, cancelled.body.outcome]).toEqual([200, 'cancelled']);
  const run = await ended(id);
  expect([run.outcome, run.tasks[0]?.state]).toEqual(['cancelled', 'cancelled']);
});

test('lists go by dag, state and outcome, page by page', async () => {
  await deploy('listed', [{ name: 'a', handler: 'echo' }]);
  const runs = Array.from({ length: 5 }, () => ({}));
  const { ids } = (await rig.ask('POST', '/v1/dags/listed/runs/batch', { runs })).body;
  for (const id of ids) await ended(id);
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await rig.ask('GET', `/v1/runs?dag=listed&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
    seen.push(...page.body.items.map(({ id }) => id));
    cursor = page.body.cursor;
  }
  expect(seen.sort()).toEqual([...ids].sort());
  expect((await rig.ask('GET', '/v1/runs?dag=listed&outcome=succeeded')).body.items).toHaveLength(5);
  expect((await rig.ask('GET', '/v1/runs?dag=listed&state=open')).body.items).toEqual([]);
});

test('a schedule is shown with its next time, paused and resumed', async () => {
  const schedule = { cron: '0 4 * * *', zone: 'Europe/Berlin' };
  await deploy('nightly', [{ name: 'a', handler: 'echo' }], { schedule });
  const dag = async () => (await rig.ask('GET', '/v1/dags/nightly')).body;
  expect(Date.parse((await dag()).schedule.nextAt)).toBeGreaterThan(Date.now());
  expect((await rig.ask('POST', '/v1/dags/nightly/schedule/pause')).body).toEqual({ name: 'nightly', paused: true });
  expect((await dag()).schedule).toMatchObject({ paused: true, nextAt: null });
  expect((await rig.ask('POST', '/v1/dags/nightly/schedule/resume')).body.paused).toBe(false);
  expect((await rig.ask('GET', '/v1/dags/nightly/windows')).body).toEqual({ items: [], cursor: null });
  const none = await rig.ask('POST', '/v1/dags/path/schedule/pause');
  expect([none.status, none.body.code]).toEqual([404, 'SCHEDULE_NOT_FOUND']);
});

test('a schedule that fires is seen in its windows', async () => {
  await deploy('often', [{ name: 'a', handler: 'echo' }], { schedule: { cron: '* * * * * *' } });
  const windows = async () => (await rig.ask('GET', '/v1/dags/often/windows')).body.items;
  await eventually(async () => (await windows()).length > 0);
  const window = (await windows()).at(-1);
  const run = await ended(window?.run ?? '');
  expect(run).toMatchObject({ cause: 'schedule', actor: 'schedule', window: window?.firesAt });
  await rig.ask('POST', '/v1/dags/often/schedule/pause');
});

test('workers of the node are listed', async () => {
  const { items } = (await rig.ask('GET', '/v1/workers')).body;
  expect(items).toEqual([expect.objectContaining({ queues: ['default'], slots: 10, draining: false })]);
});

test('dags are listed in order of name, page by page, with what they are', async () => {
  const tasks = [{ name: 'a', handler: 'echo' }];
  await deploy('shown-1', tasks, { priority: 'high', maxActiveRuns: 3 });
  await deploy('shown-2', [...tasks, { name: 'b', handler: 'echo' }]);
  const page = (await rig.ask('GET', '/v1/dags?cursor=shown-0&limit=1')).body;
  expect(page.items).toEqual([
    expect.objectContaining({
      name: 'shown-1',
      priority: 'high',
      maxActiveRuns: 3,
      maxActiveTasks: null,
      taskCount: 1,
    }),
  ]);
  const next = (await rig.ask('GET', `/v1/dags?cursor=${page.cursor}&limit=1`)).body;
  expect(next.items).toEqual([expect.objectContaining({ name: 'shown-2', taskCount: 2, schedule: null })]);
});

test('a token for workers is made, lets a worker in and nothing else, and is revoked (I66, I67)', async () => {
  const made = await rig.ask('POST', '/v1/tokens', { name: 'fleet', role: 'worker' });
  const { token } = made.body as unknown as { token: string };
  expect([made.status, (await rig.ask('POST', '/v1/tokens', { name: 'fleet', role: 'worker' })).status]).toEqual([
    201, 400,
  ]);
  const headers = { authorization: `Bearer ${token}` };
  expect((await rig.ask('GET', '/v1/runs', undefined, { headers })).status).toBe(403);
  const worker = await rig.addWorker({}, { token });
  await worker.stop();
  const listed = await rig.ask('GET', '/v1/tokens');
  expect(listed.body.items).toContainEqual(expect.objectContaining({ name: 'fleet', role: 'worker', revokedAt: null }));
  expect(JSON.stringify(listed.body)).not.toContain(token.slice(4, 12));
  expect((await rig.ask('POST', '/v1/tokens/fleet/revoke')).status).toBe(200);
  expect((await rig.ask('POST', '/v1/tokens/fleet/revoke')).body.code).toBe('TOKEN_NOT_FOUND');
  // What was found before is believed for a few seconds, not longer.
  await eventually(async () => (await rig.ask('GET', '/v1/runs', undefined, { headers })).status === 401);
});
