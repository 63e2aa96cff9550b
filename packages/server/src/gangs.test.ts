/** Gangs with real servers and real workers. */
import type { Why } from '@signalbox/protocol';
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
  return (await rig.ask('POST', `/v1/dags/${name}/runs`, {})).body.id;
}

const taskOf = async (id: string, task = 'fit') => (await rig.ask('GET', `/v1/runs/${id}/tasks/${task}`)).body;
const whyOf = (id: string) => rig.read<Why>(`/v1/runs/${id}/tasks/fit%5B0%5D/why`);
const stateIs = (id: string, state: string) => eventually(async () => (await taskOf(id)).state === state);
/** Has room for one task, and runs on a machine of its own, as far as the server knows. */
const machine = (handlers: Record<string, unknown>, queue: string, host: string, server = 0) =>
  rig.addWorker(handlers as never, {
    ...{ queues: [queue], slots: 1, labels: { host } },
    gateways: [rig.servers[server]!.grpcAddress],
  });

test('a gang waits for as many workers as it has members, says so, and each member knows the others', async () => {
  const seen: { gang: HandlerContext['gang']; at: number }[] = [];
  const fit = async ({ gang }: HandlerContext) => {
    seen.push({ gang, at: performance.now() });
    await eventually(() => seen.length === 3);
    return gang?.rank;
  };
  await machine({ fit }, 'three', 'a.example');
  await machine({ fit }, 'three', 'b.example');
  const id = await begin('three', { tasks: [{ name: 'fit', handler: 'fit', queue: 'three', gang: 3 }] });
  await eventually(async () => (await whyOf(id)).code === 'no_worker_fits');
  expect((await whyOf(id)).message).toBe('The gang needs 3 workers at once, and queue "three" has 2 that fit.');
  expect(seen).toEqual([]);
  await machine({ fit }, 'three', 'c.example');
  await stateIs(id, 'succeeded');
  const hosts = seen[0]?.gang?.hosts ?? [];
  expect([...hosts].sort()).toEqual(['a.example', 'b.example', 'c.example']);
  expect(seen.map(({ gang }) => gang).sort((a, b) => a!.rank - b!.rank)).toEqual(
    [0, 1, 2].map((rank) => ({ rank, size: 3, hosts })),
  );
  expect(await taskOf(id, 'fit%5B2%5D')).toMatchObject({ state: 'succeeded', output: 2, attempt: 1 });
});

test('when one member fails the others are stopped, and all of them run again', async () => {
  const tries: number[] = [];
  const stopped: number[] = [];
  const fit = async ({ gang, signal, attempt }: HandlerContext) => {
    tries.push(gang!.rank);
    await eventually(() => tries.length >= 2);
    if (attempt > 1) return gang!.rank;
    if (gang!.rank === 0) throw new Error('on purpose');
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    stopped.push(gang!.rank);
    throw new Error('stopped');
  };
  await machine({ fit }, 'again', 'a');
  await machine({ fit }, 'again', 'b');
  const retries = { maxAttempts: 2, baseMs: 10 };
  const id = await begin('again', { tasks: [{ name: 'fit', handler: 'fit', queue: 'again', gang: 2, retries }] });
  await stateIs(id, 'succeeded');
  expect([stopped, tries.toSorted((a, b) => a - b)]).toEqual([[1], [0, 0, 1, 1]]);
  const { attempts } = await rig.read<{
    readonly attempts: readonly { readonly outcome: string; readonly code: string | null }[];
  }>(`/v1/runs/${id}/tasks/fit%5B1%5D`);
  expect(attempts.map(({ outcome, code }) => [outcome, code])).toEqual([
    ['lost', 'gang'],
    ['succeeded', null],
  ]);
});

test('a gang that has waited for long gets its workers reserved one after the other, and does not starve', async () => {
  const release: (() => void)[] = [];
  const hold = () => new Promise<void>((resolve) => release.push(resolve));
  const handlers = { hold, fit: () => 1 };
  await machine(handlers, 'busy', 'a');
  await machine(handlers, 'busy', 'b');
  const small = { tasks: [{ name: 'fit', handler: 'hold', queue: 'busy' }] };
  const first = await begin('small', small);
  await rig.ask('POST', '/v1/dags/small/runs', {});
  await eventually(() => release.length === 2);
  const gang = await begin('large', { tasks: [{ name: 'fit', handler: 'fit', queue: 'busy', gang: 2 }] });
  for (let i = 0; i < 3; i++) await rig.ask('POST', '/v1/dags/small/runs', {});
  await eventually(async () => (await whyOf(gang)).message.includes('Workers are reserved for it'));
  release[0]!();
  await stateIs(first, 'succeeded');
  await eventually(async () => (await whyOf(gang)).message.includes('1 has room'));
  expect(release).toHaveLength(2);
  release[1]!();
  await stateIs(gang, 'succeeded');
  await eventually(() => release.length >= 4);
  for (const go of release) go();
});

test('members begin together on workers of several servers', async () => {
  await rig.addServer();
  let running = 0;
  const fit = async () => {
    running += 1;
    await eventually(() => running === 4);
  };
  for (const [no, host] of ['a', 'b', 'c', 'd'].entries()) await machine({ fit }, 'spread', host, no % 2);
  const id = await begin('spread', { tasks: [{ name: 'fit', handler: 'fit', queue: 'spread', gang: 4 }] });
  await stateIs(id, 'succeeded');
  expect(running).toBe(4);
});

test('a gang that could never begin is refused when it is deployed', async () => {
  const tasks = [{ name: 'fit', handler: 'fit', gang: 4 }];
  const refused = await rig.ask('PUT', '/v1/dags/never', { name: 'never', tasks, maxActiveTasks: 3 });
  expect(refused.status).toBe(422);
  expect(JSON.stringify(refused.body)).toContain('could never begin: it has 4 members');
});
