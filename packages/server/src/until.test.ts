/** Runs up to a chosen task, over real sockets and a real database. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from './testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ SIGNALBOX_HEARTBEAT_MS: '150', SIGNALBOX_LEASE_MS: '1500' });
  await rig.addWorker({ work: () => ['a', 'b'] }, { queues: ['until'] });
  const deployed = await rig.ask('PUT', '/v1/dags/until', {
    name: 'until',
    groups: [{ name: 'each', map: '${{ tasks.list.output }}' }],
    tasks: [
      { name: 'make', handler: 'work', queue: 'until' },
      { name: 'list', handler: 'work', queue: 'until', needs: ['make'] },
      { name: 'load', handler: 'work', queue: 'until', group: 'each' },
      { name: 'check', handler: 'work', queue: 'until', group: 'each', needs: ['load'] },
      { name: 'report', handler: 'work', queue: 'until', needs: ['check'] },
      { name: 'drop', handler: 'work', queue: 'until', teardown: 'make' },
    ],
  });
  expect([deployed.status, deployed.body.code]).toEqual([200, undefined]);
});
afterAll(() => rig.stop());

const get = async (path: string) =>
  (await rig.ask('GET', path, undefined, { headers: { accept: 'application/json' } })).body as unknown as Record<
    string,
    unknown
  >;

async function endOf(id: string) {
  await eventually(async () => (await get(`/v1/runs/${id}`)).state === 'ended');
  return get(`/v1/runs/${id}`);
}

const submit = (body: object, key?: string) =>
  rig.ask('POST', '/v1/dags/until/runs', body, key === undefined ? {} : { headers: { 'idempotency-key': key } });

test('only the chosen task and what it depends on run; the run says so, and the others why they did not', async () => {
  const { status, body } = await submit({ until: 'load' });
  expect(status).toBe(201);
  const run = await endOf(body.id);
  expect(run).toMatchObject({ outcome: 'succeeded', until: 'load' });
  const tasks = run.tasks as readonly Record<string, unknown>[];
  const reason = 'The run stops at load, which does not depend on this task.';
  expect(tasks.map((task) => [task.name, task.state, task.reason])).toEqual([
    ['make', 'succeeded', null],
    ['list', 'succeeded', null],
    ['load', 'succeeded', null],
    ['check', 'skipped', reason],
    ['report', 'skipped', reason],
    ['drop', 'succeeded', null],
  ]);
  const { items } = (await get('/v1/runs?dag=until')) as { items: readonly Record<string, unknown>[] };
  expect(items.find(({ id }) => id === body.id)).toMatchObject({ until: 'load' });
  // A clear and a rerun stay inside.
  const outside = await rig.ask('POST', `/v1/runs/${body.id}/clear`, { tasks: ['report'] });
  expect([outside.status, outside.body.code]).toEqual([409, 'TASK_OUTSIDE_RUN']);
  const cleared = await rig.ask('POST', `/v1/runs/${body.id}/clear`, { tasks: ['list'], downstream: true });
  expect(cleared.status).toBe(200);
  expect(await endOf(body.id)).toMatchObject({ outcome: 'succeeded', until: 'load' });
  const again = await rig.ask('POST', `/v1/runs/${body.id}/rerun`, {});
  expect(await endOf(again.body.id)).toMatchObject({ until: 'load', outcome: 'succeeded' });
});

test('a key is for one body, `until` included', async () => {
  const first = await submit({ until: 'list' }, 'key-1');
  expect((await submit({ until: 'list' }, 'key-1')).body.id).toBe(first.body.id);
  for (const other of [{}, { until: 'load' }]) {
    const refused = await submit(other, 'key-1');
    expect([refused.status, refused.body.code]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);
  }
});

test.each([
  [{ until: 'nothing' }, 422, 'UNTIL_INVALID', /the dag has no task or group nothing; its tasks are make, list/],
  [{ until: 'drop' }, 422, 'UNTIL_INVALID', /drop is a teardown/],
  [{ until: 7 }, 400, 'BAD_REQUEST', /until/],
  [{ until: '' }, 400, 'BAD_REQUEST', /until/],
  [{ until: null }, 400, 'BAD_REQUEST', /until/],
])('%j is refused, and makes no run', async (body, status, code, text) => {
  const before = (await get('/v1/runs?dag=until')) as { items: readonly unknown[] };
  const refused = await submit(body);
  expect([refused.status, refused.body.code]).toEqual([status, code]);
  expect(JSON.stringify(refused.body)).toMatch(text);
  const batch = await rig.ask('POST', '/v1/dags/until/runs/batch', { runs: [{}, body] });
  expect([batch.status, batch.body.code]).toEqual([status, code]);
  const after = (await get('/v1/runs?dag=until')) as { items: readonly unknown[] };
  expect(after.items.length).toBe(before.items.length);
});
