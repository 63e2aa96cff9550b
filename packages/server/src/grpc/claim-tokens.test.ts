import { randomUUID } from 'node:crypto';
import { openQueries } from '@signalbox/store';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { hashOf } from '../auth/bearer.ts';
import type { RunningServer } from '../start.ts';
import { RawWorker, type RawWorkerOptions } from '../testing/raw-worker.ts';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
let server: RunningServer;
const tokenOf: Record<string, string> = {};
const open: RawWorker[] = [];
beforeAll(async () => {
  rig = await startRig();
  server = rig.servers[0] as RunningServer;
  const queries = await openQueries({ url: rig.databaseUrl });
  const ours = await queries.ensureTenant('default');
  const theirs = await queries.ensureTenant('other');
  for (const [name, tenantId] of [
    ['owner', ours],
    ['colleague', ours],
    ['stranger', theirs],
  ] as const) {
    const token = randomUUID();
    tokenOf[name] = token;
    await queries.createToken({ tenantId, name, role: 'worker', sha256: hashOf(token) });
  }
  await queries.close();
});
afterEach(() => {
  for (const worker of open.splice(0)) worker.close();
});
afterAll(() => rig.stop());

function join(options: RawWorkerOptions, at = server): Promise<RawWorker> {
  const worker = new RawWorker(at, options);
  open.push(worker);
  return worker.welcomed();
}

let queueCount = 0;

/** A run whose only task is held by a worker with the token `owner`. */
async function held() {
  queueCount += 1;
  const queue = `q${queueCount}`;
  const name = `held-${queueCount}`;
  const spec = {
    name,
    tasks: [{ name: 'a', handler: 'a', queue, adds: true, timeout: '1h' }],
    templates: [{ name: 'more', handler: 'a', queue }],
  };
  const deployed = await rig.ask('PUT', `/v1/dags/${name}`, spec);
  expect([deployed.status, deployed.body.problems]).toEqual([200, undefined]);
  const owner = await join({ token: tokenOf.owner as string, queues: [queue] });
  const { id } = (await rig.ask('POST', `/v1/dags/${name}/runs`, {})).body;
  const assignment = await owner.assigned();
  return { id, queue, owner, assignment };
}

const taskOf = async (id: string) =>
  (await rig.ask('GET', `/v1/runs/${id}`)).body.tasks[0] as unknown as Record<string, unknown>;
const logOf = async (id: string) =>
  (
    (await rig.ask('GET', `/v1/runs/${id}/tasks/a/attempts/last/log`)).body as unknown as { lines: { text: string }[] }
  ).lines.map(({ text }) => text);

test.each([
  ['a worker of another tenant', 'stranger', 'its own id'],
  ['a worker of another tenant', 'stranger', 'the same id'],
  ['a worker with another token of the tenant', 'colleague', 'its own id'],
  ['a worker with another token of the tenant', 'colleague', 'the same id'],
  ['another worker with the same token', 'owner', 'its own id'],
])('%s can do nothing with the token of a claim (as %s, under %s)', async (_, who, id) => {
  const { id: run, queue, owner, assignment } = await held();
  const workerId = id === 'the same id' ? { workerId: owner.workerId } : {};
  const thief = await join({ token: tokenOf[who] as string, queues: [queue], ...workerId, holds: [assignment] });
  expect(await thief.report(assignment)).toBe('stale');
  for (const request of [
    { checkpoint: '1' },
    { extendMs: 1_000 },
    { assertOwned: true },
    { addedTasks: JSON.stringify([{ name: 'b', template: 'more' }]) },
  ]) {
    expect([request, await thief.ask(assignment, request)]).toEqual([request, 'STALE_TOKEN']);
  }
  thief.refuse(assignment);
  await thief.beat([assignment.claim], [assignment.claim]);
  await thief.log(server, assignment, 'forged');
  expect(await taskOf(run)).toMatchObject({ state: 'running' });
  expect((await taskOf(run)).progress).toBeUndefined();
  expect(await logOf(run)).toEqual([]);
  // The worker that it was assigned to is not touched by any of it.
  await owner.log(server, assignment, 'genuine');
  expect(await logOf(run)).toEqual(['genuine']);
  await owner.beat([assignment.claim], [assignment.claim]);
  expect(await taskOf(run)).toMatchObject({ state: 'running', progress: { fraction: 0.5, note: 'told' } });
  expect(await owner.ask(assignment, { assertOwned: true })).toBe('ok');
  expect(await owner.report(assignment)).toBe('accepted');
  expect(await taskOf(run)).toMatchObject({ state: 'succeeded', attempt: 1 });
});

test('a worker that comes back, here or to another server, still holds its claim and may report (I17)', async () => {
  const { id: run, queue, owner, assignment } = await held();
  const other = await rig.addServer();
  const back = { token: tokenOf.owner as string, workerId: owner.workerId, queues: [queue], holds: [assignment] };
  owner.close();
  const here = await join(back);
  await here.beat([assignment.claim], [assignment.claim]);
  expect(await here.ask(assignment, { assertOwned: true })).toBe('ok');
  here.close();
  const there = await join(back, other);
  await there.beat([assignment.claim], [assignment.claim]);
  await eventually(async () => (await taskOf(run)).progress !== undefined);
  await there.log(other, assignment, 'from there');
  expect(await there.report(assignment)).toBe('accepted');
  expect(await taskOf(run)).toMatchObject({ state: 'succeeded', attempt: 1 });
  await other.stop();
});

test('what a worker says it holds without proof is not believed, and it is told to stop it', async () => {
  const { id: run, queue, owner, assignment } = await held();
  const back = { token: tokenOf.owner as string, workerId: owner.workerId, queues: [queue] };
  owner.close();
  const claim = { ...assignment.claim };
  const liar = await join({ ...back, holds: [{ claim, token: Buffer.alloc(16) }] });
  const answers = () => liar.messages.flatMap((message) => message.answers);
  await eventually(() => answers().some(({ verdict }) => verdict === 'stale'));
  await liar.beat([claim], [claim]);
  expect((await taskOf(run)).progress).toBeUndefined();
});
