import { createClient } from '@signalbox/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker({ load: ({ inputs }: { inputs: unknown }) => inputs });
});
afterAll(() => rig.stop());

const client = () => createClient({ url: rig.servers[0]?.url ?? '', token: rig.token });
const hidden = async () =>
  (await client().listDags({ hidden: true })).items.filter(({ name }) => name.startsWith('.job-'));

test('a command runs now, without a dag in any list', async () => {
  const { id } = await client().createJob({
    run: 'echo "{\\"hello\\":\\"$WHO\\"}"',
    env: { WHO: '${{ params.who }}' },
    params: { who: 'Ada' },
    tags: ['greeting'],
    owner: 'team-a',
  });
  const run = await client().waitForRun(id);
  expect([run.outcome, run.tasks[0]?.error ?? null]).toEqual(['succeeded', null]);
  expect(await client().getJob(id)).toMatchObject({
    id,
    state: 'succeeded',
    run: id,
    tags: ['greeting'],
    owner: 'team-a',
    recurring: false,
  });
  expect((await client().listJobRuns(id)).items.map((one) => one.id)).toEqual([id]);
  expect((await client().listDags()).items).toEqual([]);
  expect(await hidden()).toHaveLength(1);
});

test('jobs of one shape share a dag, whatever their commands and times are', async () => {
  const before = (await hidden()).length;
  const jobs = Array.from({ length: 40 }, (_, no) => ({
    run: `echo ${no}`,
    queue: 'nobody',
    tags: ['many'],
    ...(no % 2 === 0 && { delay: '1d' }),
  }));
  const { created, items } = await client().createJobs(jobs);
  expect(created).toBe(40);
  expect(new Set(items.map(({ id }) => id)).size).toBe(40);
  expect((await hidden()).length).toBe(before + 1);
  const waiting = await client().listJobs({ tag: 'many', state: 'scheduled', limit: 15 });
  expect(waiting.items).toHaveLength(15);
  const rest = await client().listJobs({ tag: 'many', state: 'scheduled', limit: 15, cursor: waiting.cursor ?? '' });
  expect(rest.items).toHaveLength(5);
  expect((await client().listJobs({ tag: 'none' })).items).toEqual([]);
});

test('a recurring job is paused, resumed, cancelled and deleted', async () => {
  const { id } = await client().createJob({ run: 'true', cron: '0 7 * * *', zone: 'Europe/Berlin', name: 'morning' });
  expect(await client().getJob(id)).toMatchObject({
    state: 'scheduled',
    recurring: true,
    fires: '0 7 * * *',
    name: 'morning',
    fired: 0,
  });
  // It is a job, not a schedule of a dag that somebody deployed.
  expect((await rig.ask('GET', '/v1/schedules')).body.items).toEqual([]);
  expect(await client().pauseJob(id)).toMatchObject({ state: 'paused', nextAt: null });
  expect(await client().resumeJob(id)).toMatchObject({ state: 'scheduled' });
  expect(await client().cancelJob(id)).toMatchObject({ state: 'cancelled' });
  expect(await client().deleteJob(id)).toEqual({ id, deleted: true });
  await expect(client().getJob(id)).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' });
});

test('who deletes a job is in the audit (I71)', async () => {
  const { id } = await client().createJob({ run: 'echo gone', delay: '1d' });
  await client().deleteJob(id);
  const { items } = await client().listAudit({ action: 'job.delete' });
  expect(items[0]).toMatchObject({ actor: 'token:admin', target: id, details: { what: 'echo gone' } });
});

test('a job that recurs has its runs', async () => {
  const { id } = await client().createJob({ run: 'true', every: '1s' });
  await expect.poll(async () => (await client().listJobRuns(id)).items.length, { timeout: 20_000 }).toBeGreaterThan(1);
  await client().cancelJob(id);
  // They are still its runs, and it stays a job as long as runs are kept.
  const before = (await client().listJobRuns(id)).items;
  expect(before.length).toBeGreaterThan(1);
  const [, ...older] = before;
  expect((await client().listJobRuns(id, { limit: 1 })).items.map((run) => run.id)).toEqual([before[0]?.id]);
  expect(older.every((run) => run.cause === 'schedule')).toBe(true);
  await rig.sql(`update job set check_at = '-infinity' where job_id = '${id}'`);
  await client().runRetention();
  expect(await client().getJob(id)).toMatchObject({ state: 'cancelled' });
});

test('a delayed job is paused and cancelled before it runs', async () => {
  const { id } = await client().createJob({ run: 'true', at: '2031-01-01T00:00:00Z' });
  expect(await client().pauseJob(id)).toMatchObject({ state: 'paused' });
  expect(await client().getRun(id)).toMatchObject({ state: 'scheduled', paused: { until: null } });
  expect(await client().cancelJob(id)).toMatchObject({ state: 'cancelled' });
  await expect(client().getRun(id)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
});

test.each([[{ run: 'true' }], [{ run: 'true', delay: '9d' }], [{ run: 'true', every: '1h' }]])(
  'the same key gives the same job, another body is a conflict: %j (I11)',
  async (job) => {
    const call = { idempotencyKey: `key-${JSON.stringify(job)}`.replace(/[^\x21-\x7e]/g, '') };
    const first = await client().createJob(job, call);
    expect(await client().createJob(job, call)).toEqual(first);
    await expect(client().createJob({ ...job, tags: ['x'] }, call)).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
  },
);

test('a recurring job whose request was cut off is the same job hours later (I11)', async () => {
  const call = { idempotencyKey: 'cut-off' };
  const job = { run: 'true', every: '1h' } as const;
  const { id } = await client().createJob(job, call);
  // As if it had been made three hours ago, by a server that never got to answer.
  const earlier = (Number.parseInt(id.slice(0, 13).replace('-', ''), 16) - 3 * 3_600_000)
    .toString(16)
    .padStart(12, '0');
  const first = `${earlier.slice(0, 8)}-${earlier.slice(8)}${id.slice(13)}`;
  await rig.sql(`update job set job_id = '${first}' where job_id = '${id}'`);
  await rig.sql(`update request_key set status = null, answer = null, at = '-infinity' where key = 'cut-off'`);
  expect((await client().createJob(job, call)).id).toBe(first);
});

test('a key of one job is not that of a batch (I11)', async () => {
  const call = { idempotencyKey: 'of-two' };
  const { id } = await client().createJob({ run: 'true' }, call);
  const { items } = await client().createJobs([{ run: 'true' }], call);
  expect([items[0]?.error, items[0]?.id === id]).toEqual([null, false]);
});

test('a deployed task runs by itself with inputs, and keeps its code when its dag is deployed again', async () => {
  const dag = (handler: string) => ({
    name: 'etl',
    tasks: [
      { name: 'extract', handler: 'load' },
      {
        name: 'load',
        handler,
        needs: ['extract'],
        inputs: { day: '${{ tasks.extract.output.day }}', region: '${{ params.region }}' },
      },
    ],
  });
  await rig.ask('PUT', '/v1/dags/etl', dag('load'));
  const job = { task: { dag: 'etl', task: 'load' }, inputs: { day: 'monday' }, params: { region: 'eu' } };
  const later = await client().createJob({ ...job, at: '2031-01-01T00:00:00Z' });
  await rig.ask('PUT', '/v1/dags/etl', dag('other'));
  const now = await client().createJob({ ...job, queue: 'nobody' });
  expect(now.dag).not.toBe(later.dag);
  expect((await client().getDag(later.dag)).tasks[0]).toMatchObject({ name: 'load', handler: 'load' });
  await rig.ask('PUT', '/v1/dags/etl', dag('load'));
  const { id } = await client().createJob(job);
  const run = await client().waitForRun(id);
  expect([run.outcome, run.tasks[0]?.output]).toEqual(['succeeded', { day: 'monday', region: 'eu' }]);
});

test('a deployed task keeps its limits, and what it is told about the run', async () => {
  const limits = { memory: '1GB', queueTimeout: '1h', totalTimeout: '2h', softTimeout: '1m' };
  const task = { name: 'report', handler: 'load', inputs: { id: '${{ run.id }}' }, ...limits };
  await rig.ask('PUT', '/v1/dags/limited', { name: 'limited', tasks: [task] });
  const { id, dag } = await client().createJob({ task: { dag: 'limited', task: 'report' } });
  const [deployed] = (await client().getDag('limited')).tasks;
  expect(Object.keys(deployed?.limits ?? {})).toHaveLength(4);
  expect((await client().getDag(dag)).tasks[0]?.limits).toEqual(deployed?.limits);
  const run = await client().waitForRun(id);
  expect([run.outcome, run.tasks[0]?.error ?? null, run.tasks[0]?.output]).toEqual(['succeeded', null, { id }]);
});

test.each([
  [{}, 'run'],
  [{ run: 'true', http: { url: 'https://example.com' } }, 'exactly one'],
  [{ http: { url: 'https://${{ params.host }}/' } }, 'host'],
  [{ run: 'eval ${{ params.x }}' }, 'run'],
  [{ run: 'true', at: '2031-01-01T00:00:00Z', cron: '* * * * *' }, 'one of them'],
  [{ run: 'true', params: { _run: 'x' } }, '_run'],
  [{ run: 'true', timeout: 5 }, 'unit'],
  [{ task: { dag: 'etl', task: 'load' } }, 'inputs.day'],
])('%j is refused with what to do', async (job, words) => {
  const before = await hidden();
  const { status, body } = await rig.ask('POST', '/v1/jobs', job);
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(words)]);
  expect((await hidden()).length).toBe(before.length);
});

/** Of a task of its own: the one that a job names. */
const task = { dag: 'sized', task: 'load' };
const many = Object.fromEntries(Array.from({ length: 101 }, (_, no) => [`input_${no}`, no]));
test.each([
  ['params of a recurring job', { run: 'true', cron: '0 0 * * *', params: { text: 'x'.repeat(300_000) } }],
  ['params', { run: 'true', env: { SIZE: 'unlike' }, params: { text: 'x'.repeat(300_000) } }],
  ['inputs', { task, inputs: { text: 'x'.repeat(70_000) } }],
  ['many inputs', { task, inputs: many }],
  ['names of inputs that are none', { task, inputs: { 'a b;$(x)': 1 } }],
])('too large or odd: %s (I68, I12)', async (_, job) => {
  await rig.ask('PUT', '/v1/dags/sized', { name: 'sized', tasks: [{ name: 'load', handler: 'load' }] });
  const before = await hidden();
  const { status, body } = await rig.ask('POST', '/v1/jobs', job);
  expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  expect((await rig.ask('POST', '/v1/jobs/batch', { jobs: [job] })).status).toBe('inputs' in job ? 400 : 201);
  expect((await hidden()).length).toBe(before.length);
});

test('names of dags that jobs have cannot be deployed or deleted by people', async () => {
  const name = '.job-mine';
  const { status } = await rig.ask('PUT', `/v1/dags/${name}`, { name, tasks: [{ name: 'a', handler: 'load' }] });
  expect(status).toBe(400);
  const [dag] = await hidden();
  expect((await rig.ask('DELETE', `/v1/dags/${dag?.name}`)).status).toBe(400);
});

test('jobs of other shapes in one batch fail by themselves', async () => {
  const { created, items } = await client().createJobs([
    { run: 'true', queue: 'nobody' },
    { task: { dag: 'nope', task: 'x' } },
  ]);
  expect([created, items[1]?.error?.code]).toEqual([1, 'DAG_NOT_FOUND']);
});
