import type { BlockerPage, DagView, RunView } from '@signalbox/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
/** Lets go of the tasks that are held, the first that began first. */
const held: (() => void)[] = [];
beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker({ hold: () => new Promise<void>((resolve) => held.push(resolve)) }, { slots: 20 });
});
afterAll(async () => {
  await rig.stop();
});

async function deploy(name: string, concurrency: object): Promise<void> {
  const dag = { name, concurrency, tasks: [{ name: 'work', handler: 'hold' }] };
  const { status, body } = await rig.ask('PUT', `/v1/dags/${name}`, dag);
  expect([status, body.code]).toEqual([200, undefined]);
}

const submit = (name: string, customer: string) => rig.ask('POST', `/v1/dags/${name}/runs`, { params: { customer } });
const runOf = (id: string) => rig.read<RunView>(`/v1/runs/${id}`);
const KEY = 'c-${{ params.customer }}';

test('a run waits for its key, says who has it, and goes when that has ended', async () => {
  await deploy('queued', { key: KEY });
  expect(await rig.read<DagView>('/v1/dags/queued')).toMatchObject({
    concurrency: { key: KEY, limit: 1, onFull: 'queue' },
  });
  const ids: string[] = [];
  for (const customer of ['acme', 'acme', 'other']) ids.push((await submit('queued', customer)).body.id);
  const waiting = await runOf(ids[1]!);
  expect(waiting).toMatchObject({ state: 'queued', concurrencyKey: 'c-acme', why: { code: 'run_key' } });
  expect(waiting.why?.message).toBe(`At most one run with key "c-acme" may be active. Run ${ids[0]} has it.`);
  expect((await runOf(ids[2]!)).state).toBe('open');
  await eventually(async () => held.length === 2);
  const { items } = await rig.read<BlockerPage>('/v1/blockers');
  expect(items).toMatchObject([{ code: 'run_key', subject: 'dag:queued', count: 1 }]);
  for (const letGo of held.splice(0)) letGo();
  await eventually(async () => (await runOf(ids[1]!)).tasks[0]?.state === 'running');
  for (const letGo of held.splice(0)) letGo();
  await eventually(async () => (await runOf(ids[1]!)).state === 'ended');
});

test('with cancel_running the newest goes, with cancel_new the oldest', async () => {
  await deploy('newest', { key: KEY, onFull: 'cancel_running' });
  const first = (await submit('newest', 'acme')).body.id;
  const second = (await submit('newest', 'acme')).body.id;
  await eventually(async () => (await runOf(first)).outcome === 'cancelled');
  await deploy('oldest', { key: KEY, onFull: 'cancel_new' });
  const third = (await submit('oldest', 'acme')).body.id;
  const fourth = (await submit('oldest', 'acme')).body.id;
  expect(await runOf(fourth)).toMatchObject({ outcome: 'cancelled' });
  await eventually(async () => {
    for (const letGo of held.splice(0)) letGo();
    const states = await Promise.all([second, third].map(async (id) => (await runOf(id)).outcome));
    return states.every((outcome) => outcome === 'succeeded');
  });
});

test('with skip a submission is refused, and an event starts nothing', async () => {
  await deploy('skipped', { key: KEY, onFull: 'skip' });
  const first = (await submit('skipped', 'acme')).body.id;
  const { status, body } = await submit('skipped', 'acme');
  expect([status, body.code]).toEqual([409, 'RUN_KEY_TAKEN']);
  expect(body.detail).toContain(`key "c-acme" (run ${first})`);
  const on = { type: 'order.paid', params: { customer: '${{ event.data.customer }}' } };
  const dag = {
    name: 'skipped',
    on,
    concurrency: { key: KEY, onFull: 'skip' },
    tasks: [{ name: 'work', handler: 'hold' }],
  };
  expect((await rig.ask('PUT', '/v1/dags/skipped', dag)).status).toBe(200);
  const eventOf = (id: string) => ({
    specversion: '1.0',
    id,
    source: '/shop',
    type: 'order.paid',
    data: { customer: 'acme' },
  });
  const sent = await rig.ask('POST', '/v1/events', eventOf('1'));
  expect(sent.body).toMatchObject({ matched: true, runs: [], refused: [{ dag: 'skipped' }] });
  await eventually(async () => {
    for (const letGo of held.splice(0)) letGo();
    return (await runOf(first)).state === 'ended';
  });
  expect((await rig.ask('POST', '/v1/events', eventOf('2'))).body).toMatchObject({ runs: [{ dag: 'skipped' }] });
});

test.each([
  [{ key: '${{ tasks.work.output }}' }, 'concurrency.key', 'a key is made of params'],
  [{ key: '${{ params.a' }, 'concurrency.key', 'not closed'],
])('a key of %j is refused', async (concurrency, path, message) => {
  const dag = { name: 'wrong', concurrency, tasks: [{ name: 'work', handler: 'hold' }] };
  const { body } = await rig.ask('PUT', '/v1/dags/wrong', dag);
  expect(body.problems).toMatchObject([{ path, message: expect.stringContaining(message) }]);
});
