import { type RunColumns, TASK_STATES } from '@signalbox/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, PLAIN_HANDLERS, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker(PLAIN_HANDLERS);
});
afterAll(() => rig.stop());

const columnsOf = (id: string, query = '') => rig.read<RunColumns>(`/v1/runs/${id}/columns${query}`);

test('columns say the same as the run with its tasks', async () => {
  const name = 'columns';
  await rig.client().deployDag({
    name,
    tasks: [
      { name: 'a', handler: 'echo' },
      { name: 'b', handler: 'fail', needs: ['a'], retries: { maxAttempts: 2, baseMs: 1 } },
      { name: 'c', handler: 'echo', needs: ['b', 'a'] },
    ],
  });
  const { id } = await rig.client().submit(name, { params: { day: 1 } });
  await rig.client().waitForRun(id);
  const run = await rig.client().getRun(id);
  const { columns, shape, ...head } = await columnsOf(id, '?shape=true');
  const { tasks, ...summary } = run;
  expect(head).toMatchObject({ ...summary, instances: {} });
  expect(columns.state.map((place) => TASK_STATES[place])).toEqual(tasks.map(({ state }) => state));
  expect(columns.attempt).toEqual(tasks.map(({ attempt }) => attempt));
  const after = (at: string | null) => (at === null ? null : Date.parse(at) - Date.parse(run.createdAt));
  expect(columns.claimedMs).toEqual(tasks.map(({ claimedAt }) => after(claimedAt)));
  expect(columns.startedMs).toEqual(tasks.map(({ startedAt }) => after(startedAt)));
  expect(columns.endedMs).toEqual(tasks.map(({ endedAt }) => after(endedAt)));
  expect(shape).toMatchObject({ names: ['a', 'b', 'c'], edges: [0, 1, 0, 2, 1, 2], role: ['task', 'task', 'task'] });
  expect((await columnsOf(id)).shape).toBeNull();
});

test('columns say why a run waits, and count the items of maps', async () => {
  await rig.client().deployDag({
    name: 'waiting',
    tasks: [
      { name: 'items', handler: 'echo' },
      {
        name: 'each',
        handler: 'echo',
        queue: 'nobody',
        map: '${{ tasks.items.output }}',
        inputs: { x: '${{ item }}' },
      },
    ],
  });
  const { id } = await rig.client().submit('waiting', { params: [1, 2, 3] });
  await eventually(async () => (await columnsOf(id)).instances['1']?.total === 3);
  const { why, instances } = await columnsOf(id);
  expect(instances['1']).toEqual({ total: 3, states: { ready: 3 } });
  expect(why).toMatchObject({ code: 'no_worker', message: expect.stringMatching(/^Task each: .*"nobody"/) });
});

test('a run of another id is not found', async () => {
  const answer = await rig.ask('GET', '/v1/runs/0199aaaa-0000-7000-8000-000000000000/columns');
  expect([answer.status, answer.body.code]).toEqual([404, 'RUN_NOT_FOUND']);
});

test('a list of dags has as many recent runs of each as was asked for, newest first', async () => {
  await rig.client().deployDag({ name: 'often', tasks: [{ name: 'a', handler: 'echo' }] });
  const ids: string[] = [];
  for (let i = 0; i < 4; i++) ids.unshift((await rig.client().submit('often')).id);
  const recentOf = async (query: string) => {
    const { body } = await rig.ask('GET', `/v1/dags${query}`);
    const often = body.items.find(({ name }) => name === 'often') as unknown as { recentRuns: { id: string }[] };
    return often.recentRuns.map(({ id }) => id);
  };
  expect(await recentOf('?recent=3')).toEqual(ids.slice(0, 3));
  expect(await recentOf('')).toEqual(ids.slice(0, 1));
  expect((await rig.ask('GET', '/v1/dags?recent=1000')).status).toBe(400);
});

test('a run that was asked for later has columns without tasks, and real ones once it has begun', async () => {
  await rig.client().deployDag({ name: 'later', tasks: [{ name: 'a', handler: 'echo' }] });
  const { id } = await rig.client().submit('later', { delay: '1500ms', params: { day: 1 } });
  const waiting = await columnsOf(id, '?shape=true');
  expect(waiting).toMatchObject({ id, state: 'scheduled', params: { day: 1 }, columns: { state: [] } });
  expect(waiting.shape?.names).toEqual([]);
  await rig.client().waitForRun(id);
  expect((await columnsOf(id)).columns.state).toHaveLength(1);
});
