/** Placement, preemption and eviction with a real server and real workers. */
import type { BlockerPage } from '@signalbox/protocol';
import type { HandlerContext } from '@signalbox/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from './testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ SIGNALBOX_RESERVE_AFTER_MS: '1000' });
});
afterAll(() => rig.stop());

async function begin(name: string, definition: object): Promise<string> {
  const deployed = await rig.ask('PUT', `/v1/dags/${name}`, { name, ...definition });
  expect([deployed.status, deployed.body]).toMatchObject([200, {}]);
  return start(name);
}

const start = async (name: string): Promise<string> => (await rig.ask('POST', `/v1/dags/${name}/runs`, {})).body.id;
const taskOf = async (id: string) => (await rig.ask('GET', `/v1/runs/${id}/tasks/a`)).body;
const attemptsOf = async (id: string) => (await taskOf(id)).attempts as unknown as readonly object[];
const blockerOf = async (queue: string) =>
  (await rig.read<BlockerPage>('/v1/blockers')).items.find(({ subject }) => subject === `queue:${queue}`);
const stateIs = (id: string, state: string) => eventually(async () => (await taskOf(id)).state === state);

test('a task with a label goes only to the worker that has it, and says so while there is none (I24, I75)', async () => {
  const says = (name: string) => ({ where: () => name });
  await rig.addWorker(says('plain'), { queues: ['labels'], resources: { cpu: 2 } });
  const tasks = [{ name: 'a', handler: 'where', queue: 'labels', labels: { disk: 'ssd' } }];
  const first = await begin('labels', { tasks });
  const why = async () => (await rig.ask('GET', `/v1/runs/${first}/tasks/a/why`)).body;
  await eventually(async () => (await why()).code === 'no_worker_fits');
  expect(await why()).toMatchObject({ message: 'No worker of queue "labels" offers label disk=ssd.' });
  expect(await blockerOf('labels')).toMatchObject({ code: 'no_worker_fits', count: 1 });
  await rig.addWorker(says('with ssd'), { queues: ['labels'], labels: { disk: 'ssd' } });
  const runs = [first, await start('labels'), await start('labels'), await start('labels')];
  for (const id of runs) {
    await stateIs(id, 'succeeded');
    expect((await taskOf(id)).output).toBe('with ssd');
  }
});

test('no more runs on a worker than it has room for, and the workers show what is free (I24)', async () => {
  const release: (() => void)[] = [];
  const hold = () => new Promise<void>((resolve) => release.push(resolve));
  await rig.addWorker({ hold }, { name: 'small', queues: ['room'], slots: 8, resources: { cpu: 4, memory: '5GiB' } });
  const tasks = [{ name: 'a', handler: 'hold', queue: 'room', resources: { cpu: 0.5, memory: '2GiB' } }];
  const runs = [await begin('room', { tasks }), await start('room'), await start('room')];
  await eventually(() => release.length === 2);
  const why = async () => (await rig.ask('GET', `/v1/runs/${runs[2]}/tasks/a/why`)).body;
  await eventually(async () => (await why()).code === 'no_room');
  expect(await blockerOf('room')).toMatchObject({ code: 'no_room', count: 1 });
  const { items } = await rig.client().listWorkers();
  expect(items.find(({ name }) => name === 'small')).toMatchObject({ free: { cpu: 3_000, memory: 2 ** 30 } });
  release[0]?.();
  await eventually(() => release.length === 3);
  for (const go of release) go();
  for (const id of runs) await stateIs(id, 'succeeded');
});

test('a task that wants a worker for itself gets one reserved, starts before the small ones, and says so (I29, I75)', async () => {
  const release: (() => void)[] = [];
  const hold = () => new Promise<void>((resolve) => release.push(resolve));
  await rig.addWorker({ hold, quick: () => 1 }, { name: 'only', queues: ['large'], slots: 2, resources: { cpu: 2 } });
  const small = { tasks: [{ name: 'a', handler: 'hold', queue: 'large' }] };
  const runs = [await begin('small', small), await start('small')];
  await eventually(() => release.length === 2);
  const large = await begin('large', { tasks: [{ name: 'a', handler: 'quick', queue: 'large', exclusive: true }] });
  runs.push(await start('small'));
  const why = async (id: string) => JSON.stringify(await rig.read(`/v1/runs/${id}/tasks/a/why`));
  await eventually(async () => (await why(large)).includes('A worker is reserved for it'));
  const { items } = await rig.client().listWorkers();
  expect(items.find(({ name }) => name === 'only')).toMatchObject({ reserved: true });
  release[0]?.();
  await stateIs(runs[0]!, 'succeeded');
  await eventually(async () => (await why(runs[2]!)).includes('reserved for a larger task'));
  expect(release).toHaveLength(2);
  release[1]?.();
  await stateIs(large, 'succeeded');
  await eventually(() => release.length === 3);
  release[2]?.();
  for (const id of runs) await stateIs(id, 'succeeded');
});

/** Names of dags whose attempt has saved a checkpoint. */
const saved: string[] = [];

/** Saves a checkpoint and waits to be stopped; one that finds a checkpoint returns it. */
const counting = async ({ dag, checkpoint, signal }: HandlerContext): Promise<unknown> => {
  const known = checkpoint.get();
  if (known !== null) return known;
  await checkpoint.set({ page: 7 });
  saved.push(dag);
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
};

test('a critical task into a full fleet preempts, and the victim resumes from its checkpoint (I39)', async () => {
  await rig.addWorker({ counting, urgent: () => 'done' }, { queues: ['full'], slots: 1 });
  const only = (handler: string) => [{ name: 'a', handler, queue: 'full', retries: { maxAttempts: 1 } }];
  const victim = await begin('slow', { tasks: only('counting'), priority: 'low' });
  await eventually(() => saved.includes('slow'));
  const urgent = await begin('urgent', { tasks: only('urgent'), priority: 'critical' });
  await stateIs(urgent, 'succeeded');
  await stateIs(victim, 'succeeded');
  expect((await taskOf(victim)).output).toEqual({ page: 7 });
  expect(await attemptsOf(victim)).toMatchObject([
    { attempt: 1, outcome: 'lost', code: 'preempted' },
    { attempt: 2, outcome: 'succeeded' },
  ]);
  const metrics = await (
    await fetch(`${rig.servers[0]?.url}/metrics`, { headers: { authorization: `Bearer ${rig.token}` } })
  ).text();
  expect(metrics).toMatch(/attempts_displaced(_total)?\{[^}]*cause="preempted"[^}]*\} 1/);
});

test('an evicted worker leaves, and what it ran goes on elsewhere from its checkpoint (I27, I39)', async () => {
  const evicted = await rig.addWorker({ counting }, { queues: ['spot'], labels: { spot: 'true' } });
  const tasks = [{ name: 'a', handler: 'counting', queue: 'spot', retries: { maxAttempts: 1 } }];
  const run = await begin('spot', { tasks });
  const never = await begin('never', { tasks: [{ ...tasks[0], spot: 'never' }] });
  await eventually(() => saved.includes('spot'));
  const { items } = await rig.client().listWorkers();
  const { id } = items.find(({ queues }) => queues.includes('spot'))!;
  await rig.client().evictWorker(id);
  await evicted.stopped;
  expect(await taskOf(never)).toMatchObject({ state: 'ready', attempts: [] });
  await rig.addWorker({ counting }, { queues: ['spot'] });
  await stateIs(run, 'succeeded');
  expect(await attemptsOf(run)).toMatchObject([{ outcome: 'lost', code: 'evicted' }, { outcome: 'succeeded' }]);
});
