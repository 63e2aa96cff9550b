import type { DagGrid, DagHistory, Delays, FiringPage, RunColumns } from '@signalbox/protocol';
import type { Client } from '@signalbox/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PLAIN_HANDLERS, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker(PLAIN_HANDLERS);
});
afterAll(() => rig.stop());

const columnsOf = (id: string) => rig.read<RunColumns>(`/v1/runs/${id}/columns?shape=true`);

const echo = (name: string, ...needs: string[]) => ({ name, handler: 'echo', needs });

/** Ended runs of two versions, of a part of the dag, and with a map; newest first. */
async function variedRuns(dag: string): Promise<string[]> {
  const ids: string[] = [];
  const run = async (options: Parameters<Client['submit']>[1]) => {
    const { id } = await rig.client().submit(dag, options);
    await rig.client().waitForRun(id);
    ids.unshift(id);
  };
  await rig.client().deployDag({
    name: dag,
    tasks: [echo('a'), { ...echo('b', 'a'), handler: 'fail' }, echo('c', 'b')],
  });
  await run({ params: [1] });
  await rig.client().deployDag({
    name: dag,
    tasks: [echo('a'), { ...echo('each', 'a'), map: '${{ tasks.a.output }}' }, echo('c', 'each')],
  });
  await run({ params: [1, 2, 3] });
  await run({ params: [1], until: 'a' });
  await run({ params: [1, 2] });
  return ids;
}

test('the grid says of each run what its columns say', async () => {
  const ids = await variedRuns('varied');
  const { runs, shapes, cut } = await rig.read<DagGrid>('/v1/dags/varied/grid');
  expect(runs.map(({ id }) => id)).toEqual(ids);
  expect(cut).toBe(false);
  for (const run of runs) {
    const { columns, shape, instances, ...summary } = await columnsOf(run.id);
    expect(summary).toMatchObject({ version: run.version, state: run.state, outcome: run.outcome });
    expect([run.createdAt, run.endedAt]).toEqual([summary.createdAt, summary.endedAt]);
    expect(run.states).toEqual(columns.state);
    expect(run.instances).toEqual(instances);
    expect(shapes[run.shape]).toEqual({ names: shape?.names, role: shape?.role });
  }
  // The second and the fourth run are of one version and whole: they share their shape.
  expect(runs.map(({ shape }) => shape)).toEqual([0, 1, 0, 2]);
});

test('a run that is opened again changes in the grid, also where it was kept', async () => {
  const [id] = (await variedRuns('reopened')).slice(-1) as [string];
  const grid = () => rig.read<DagGrid>('/v1/dags/reopened/grid');
  const before = await grid();
  expect(await grid()).toEqual(before);
  const { status } = await rig.ask('POST', `/v1/runs/${id}/mark`, { tasks: ['b'], as: 'succeeded' });
  expect(status).toBe(200);
  await rig.client().waitForRun(id);
  const after = await grid();
  expect(after.runs.slice(0, -1)).toEqual(before.runs.slice(0, -1));
  expect(after.runs.at(-1)?.states).toEqual((await columnsOf(id)).columns.state);
  expect(after.runs.at(-1)?.states).not.toEqual(before.runs.at(-1)?.states);
});

test('the grid has as many runs as were asked for, and none of a dag that has none', async () => {
  await rig.client().deployDag({ name: 'few', tasks: [echo('a')] });
  expect(await rig.read<DagGrid>('/v1/dags/few/grid')).toEqual({ runs: [], shapes: [], cut: false });
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) ids.unshift((await rig.client().submit('few')).id);
  const { runs } = await rig.read<DagGrid>('/v1/dags/few/grid?runs=2');
  expect(runs.map(({ id }) => id)).toEqual(ids.slice(0, 2));
  expect((await rig.ask('GET', '/v1/dags/few/grid?runs=101')).status).toBe(400);
  expect((await rig.ask('GET', '/v1/dags/none/grid')).body.code).toBe('DAG_NOT_FOUND');
});

test('the history has when runs were created, how long they took and how they ended', async () => {
  await rig.client().deployDag({ name: 'past', tasks: [{ ...echo('a'), handler: 'fail' }] });
  const { id } = await rig.client().submit('past');
  await rig.client().waitForRun(id);
  const run = await rig.client().getRun(id);
  expect(await rig.read<DagHistory>('/v1/dags/past/history')).toEqual({
    ids: [id],
    state: ['ended'],
    outcome: ['failed'],
    createdAt: [run.createdAt],
    tookMs: [Date.parse(run.endedAt ?? '') - Date.parse(run.createdAt)],
    version: [1],
  });
});

test('firings are at the same wall time on both sides of a clock change', async () => {
  const schedule = { cron: '30 6 1 * *', zone: 'Europe/Berlin' };
  await rig.client().deployDag({ name: 'monthly', schedule, tasks: [echo('a')] });
  const { items } = await rig.read<FiringPage>('/v1/dags/monthly/firings?count=12');
  expect(items).toHaveLength(12);
  expect(new Set(items.map(({ offsetMinutes }) => offsetMinutes))).toEqual(new Set([60, 120]));
  for (const { firesAt, offsetMinutes } of items) {
    const there = new Date(Date.parse(firesAt) + offsetMinutes * 60_000).toISOString();
    expect(there.slice(8, 16)).toBe('01T06:30');
  }
  const { body } = await rig.ask('GET', '/v1/dags/monthly');
  expect(items[0]?.firesAt).toBe(body.schedule.nextAt);
  // Paused, it says when it would fire.
  await rig.ask('POST', '/v1/dags/monthly/schedule/pause', {});
  expect((await rig.read<FiringPage>('/v1/dags/monthly/firings?count=12')).items).toEqual(items);
  // Of another schedule, in its own zone; as many as its limit leaves.
  const other = { name: 'twice', cron: '0 9 * * *', zone: 'America/New_York', limit: 2 };
  await rig.ask('POST', '/v1/dags/monthly/schedules', other);
  const twice = await rig.read<FiringPage>('/v1/dags/monthly/firings?schedule=twice&count=5');
  expect(twice.items.map(({ local, note }) => [local.slice(11, 16), note])).toEqual([
    ['09:00', null],
    ['09:00', null],
  ]);
  expect((await rig.ask('GET', '/v1/dags/monthly/firings?schedule=none')).body.code).toBe('SCHEDULE_NOT_FOUND');
  await rig.client().deployDag({ name: 'on-demand', tasks: [echo('a')] });
  expect(await rig.read<FiringPage>('/v1/dags/on-demand/firings')).toEqual({ items: [], cursor: null });
});

test('the delay of a run is the time until the first attempt of one of its tasks was claimed', async () => {
  const failing = { ...echo('a'), handler: 'fail', retries: { maxAttempts: 2, baseMs: 1 } };
  await rig.client().deployDag({ name: 'retried', tasks: [failing, echo('b', 'a')] });
  await rig.client().deployDag({ name: 'unserved', tasks: [{ ...echo('a'), queue: 'nobody' }] });
  const { id: retried } = await rig.client().submit('retried');
  await rig.client().waitForRun(retried);
  const { id: unserved } = await rig.client().submit('unserved');
  const run = await rig.client().getRun(retried);
  const first = run.tasks[0]?.attempts[0]?.claimedAt ?? '';
  const { ids, dag, createdAt, delayMs } = await rig.read<Delays>('/v1/delays?runs=2');
  expect(ids).toEqual([unserved, retried]);
  expect(dag).toEqual(['unserved', 'retried']);
  expect(createdAt[1]).toBe(run.createdAt);
  expect(delayMs).toEqual([null, Date.parse(first) - Date.parse(run.createdAt)]);
});
