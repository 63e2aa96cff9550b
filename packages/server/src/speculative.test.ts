/** Speculative attempts, over real sockets and a real database: two servers, two workers, an attempt that hangs. */
import type { HandlerContext } from '@signalbox/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from './testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  const settings = { SIGNALBOX_HEARTBEAT_MS: '150', SIGNALBOX_LEASE_MS: '2000' };
  rig = await startRig(settings);
  await rig.addServer(settings);
});
afterAll(() => rig.stop());

interface AttemptSeen {
  readonly attempt: number;
  readonly worker: string;
  readonly outcome: string | null;
  readonly code: string | null;
  readonly speculative: boolean;
}

/** The third item of four hangs at its first attempt, until it is stopped; its second says what it got. */
function hanging(second: (context: HandlerContext) => unknown) {
  const stops: unknown[] = [];
  const keys: string[] = [];
  const read = async (context: HandlerContext) => {
    const { index, attempt, signal, effectKey } = context;
    if (index !== 2) return index;
    keys.push(effectKey);
    if (attempt > 1) return second(context);
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    stops.push((signal.reason as { readonly reason: string }).reason);
    return 'too late';
  };
  return { read, stops, keys };
}

async function begin(name: string, task: object = {}): Promise<string> {
  const speculate = { factor: 2, after: '400ms' };
  const tasks = [{ name: 'read', handler: 'read', queue: name, map: [0, 1, 2, 3], speculate, ...task }];
  const deployed = await rig.ask('PUT', `/v1/dags/${name}`, { name, tasks });
  expect([deployed.status, deployed.body]).toMatchObject([200, {}]);
  return (await rig.ask('POST', `/v1/dags/${name}/runs`, {})).body.id;
}

const taskOf = async (id: string) => (await rig.ask('GET', `/v1/runs/${id}/tasks/read%5B2%5D`)).body;
const attemptsOf = async (id: string) => (await taskOf(id)).attempts as unknown as readonly AttemptSeen[];
const runOf = async (id: string) => (await rig.ask('GET', `/v1/runs/${id}`)).body;
const ended = (id: string) => eventually(async () => (await runOf(id)).state === 'ended');

test('an item that hangs gets a speculative attempt at another worker, which wins; the first is fenced and killed (I21, I23)', async () => {
  const { read, stops, keys } = hanging(({ attempt }) => `by ${attempt}`);
  for (let i = 0; i < 2; i++) await rig.addWorker({ read }, { queues: ['wins'], slots: 4 });
  const id = await begin('wins');
  await ended(id);
  expect(await runOf(id)).toMatchObject({ outcome: 'succeeded' });
  expect(await taskOf(id)).toMatchObject({ state: 'succeeded', output: 'by 2', attempt: 2 });
  const [first, second] = (await attemptsOf(id)) as unknown as [AttemptSeen, AttemptSeen];
  expect(first).toMatchObject({ attempt: 1, outcome: 'cancelled', code: 'superseded', speculative: false });
  expect(second).toMatchObject({ attempt: 2, outcome: 'succeeded', code: null, speculative: true });
  expect(second.worker).not.toBe(first.worker);
  // What it still returns is nobody's: the output above stays.
  await eventually(() => stops.length === 1);
  expect(stops).toEqual(['superseded']);
  expect(new Set(keys).size).toBe(1);
  expect((await taskOf(id)).output).toBe('by 2');
});

test('both attempts show while they run; one that fails leaves the other; a cancel stops both (I42)', async () => {
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const { read, stops } = hanging(async () => {
    await held;
    throw new Error('no luck');
  });
  for (let i = 0; i < 2; i++) await rig.addWorker({ read }, { queues: ['both'], slots: 4 });
  const id = await begin('both', { retries: { maxAttempts: 1 } });
  await eventually(async () => (await attemptsOf(id)).length === 2);
  expect(await attemptsOf(id)).toMatchObject([
    { attempt: 1, outcome: null, speculative: false },
    { attempt: 2, outcome: null, speculative: true },
  ]);
  expect(await taskOf(id)).toMatchObject({ state: 'running', attempt: 1 });
  letGo();
  await eventually(async () => (await attemptsOf(id))[1]?.outcome === 'transient');
  expect(await taskOf(id)).toMatchObject({ state: 'running', attempt: 1 });
  await rig.ask('POST', `/v1/runs/${id}/cancel`, {});
  await ended(id);
  expect(stops).toEqual(['cancelled']);
  expect(await runOf(id)).toMatchObject({ outcome: 'cancelled' });
});

test('what is no item of a map has no siblings: it is refused with the place', async () => {
  const tasks = [{ name: 'alone', handler: 'read', speculate: true }];
  const { status, body } = await rig.ask('PUT', '/v1/dags/alone', { name: 'alone', tasks });
  expect(status).toBe(422);
  expect(JSON.stringify(body)).toContain('tasks[0].speculate');
});
