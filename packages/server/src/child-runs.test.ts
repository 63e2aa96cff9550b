import type { ShardNo, TenantId } from '@signalbox/engine';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { firstShard } from './rest/dag-lookup.ts';
import type { RunningServer } from './start.ts';
import { type AnyBody, eventually, type Rig, startRig } from './testing/rig.ts';

let rig: Rig;
let [first, second] = [] as unknown as [RunningServer, RunningServer];
beforeAll(async () => {
  rig = await startRig();
  first = rig.servers[0] as RunningServer;
  await rig.addWorker({
    echo: ({ params }: { params: unknown }) => params,
    see: ({ inputs }: { inputs: unknown }) => inputs,
    item: ({ item }: { item: unknown }) => item,
    fail: () => {
      throw new Error('It fails.');
    },
    hang: ({ signal }: { signal: AbortSignal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  });
  second = await rig.addServer();
  await eventually(() => first.host.shardsServed() > 0 && second.host.shardsServed() > 0);
  await eventually(() => first.host.shardsServed() + second.host.shardsServed() === 64);
});
afterAll(() => rig.stop());

let count = 0;
/** A new dag whose shard that server owns. */
const nameOwnedBy = (owner: RunningServer): string => {
  for (;;) {
    const name = `dag-${++count}`;
    const shard: ShardNo = firstShard(1 as TenantId, name);
    if (owner.host.directory.ownerOf(shard)?.nodeId === owner.nodeId) return name;
  }
};

async function deploy(name: string, definition: object): Promise<string> {
  const { status, body } = await rig.ask('PUT', `/v1/dags/${name}`, { name, ...definition });
  expect(body.problems).toBeUndefined();
  expect(status).toBe(200);
  return name;
}

const submit = async (name: string, params: unknown = null): Promise<string> =>
  (await rig.ask('POST', `/v1/dags/${name}/runs`, { params })).body.id;
const look = async (id: string): Promise<AnyBody> => (await rig.ask('GET', `/v1/runs/${id}`)).body;

async function ended(id: string): Promise<AnyBody> {
  await eventually(async () => (await look(id)).state === 'ended');
  return look(id);
}

/** A run that calls a dag of the other server's, and what that is told is the output of its task. */
async function calling(call: object, callee: object, from = first, to = second) {
  const child = await deploy(nameOwnedBy(to), callee);
  const parent = await deploy(nameOwnedBy(from), { tasks: [{ name: 'call', dag: child, ...call }] });
  return { child, parent };
}

/** The run that a task has called, once there is one. */
async function childOf(id: string): Promise<string> {
  await eventually(async () => typeof (await look(id)).tasks[0]?.child?.run === 'string');
  return (await look(id)).tasks[0]!.child!.run!;
}

describe('parent and child on shards of different owners', () => {
  test('params go there, outputs come back, and each shows the other', async () => {
    const echo = { tasks: [{ name: 'say', handler: 'echo' }] };
    const { child, parent } = await calling({ inputs: { day: '${{ params.day }}', fixed: 1 } }, echo);
    const id = await submit(parent, { day: 'monday' });
    const run = await ended(id);
    expect(run).toMatchObject({ outcome: 'succeeded', parent: null });
    expect(run.tasks[0]).toMatchObject({
      state: 'succeeded',
      worker: null,
      output: { say: { day: 'monday', fixed: 1 } },
    });
    const other = await childOf(id);
    expect(run.tasks[0]?.child).toEqual({ dag: child, run: other });
    const called = await look(other);
    expect(called).toMatchObject({ dag: child, cause: 'parent', parent: { run: id, task: 'call', attempt: 1 } });
  });

  test('a call for each item of a map has its item, and what a map leaves is a list', async () => {
    const child = await deploy(nameOwnedBy(second), {
      tasks: [{ name: 'say', handler: 'item', map: '${{ params.list }}' }],
    });
    const parent = await deploy(nameOwnedBy(first), {
      tasks: [
        { name: 'call', dag: child, map: [['a'], ['b', 'c']], inputs: { list: '${{ item }}' } },
        { name: 'all', handler: 'see', inputs: { all: '${{ tasks.call.output }}' } },
      ],
    });
    const run = await ended(await submit(parent));
    expect(run.tasks.find(({ name }) => name === 'all')?.output).toEqual({
      all: [{ say: ['a'] }, { say: ['b', 'c'] }],
    });
    const one = await rig.ask('GET', `/v1/runs/${run.id}/tasks/${encodeURIComponent('call[1]')}`);
    expect(one.body).toMatchObject({ state: 'succeeded', child: { dag: child, run: expect.any(String) } });
    expect((await look(one.body.child!.run!)).parent).toMatchObject({ run: run.id, task: 'call' });
  });

  test('a failure comes back, with the name of what failed', async () => {
    const { parent } = await calling({}, { tasks: [{ name: 'breaks', handler: 'fail' }] }, second, first);
    const run = await ended(await submit(parent));
    expect(run.outcome).toBe('failed');
    expect(run.tasks[0]?.error).toMatch(/failed: breaks\.$/);
  });

  test('a dag that is not there, and params that it does not take, are told plainly', async () => {
    const parent = await deploy(nameOwnedBy(first), { tasks: [{ name: 'call', dag: 'nowhere' }] });
    expect((await ended(await submit(parent))).tasks[0]?.error).toBe('Dag nowhere does not exist.');
    const params = { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] };
    const strict = { params, tasks: [{ name: 'say', handler: 'echo' }] };
    const wrong = await calling({ inputs: { day: 1 } }, strict);
    expect((await ended(await submit(wrong.parent))).tasks[0]?.error).toMatch(/does not take these params: .*day/);
    const right = await calling({ inputs: { day: '1' } }, strict);
    expect((await ended(await submit(right.parent))).outcome).toBe('succeeded');
  });

  test('a cancel of the parent reaches the child, and the parent ends after it (I42)', async () => {
    const { parent } = await calling({}, { tasks: [{ name: 'hangs', handler: 'hang' }] });
    const id = await submit(parent);
    const other = await childOf(id);
    await eventually(async () => (await look(other)).tasks[0]?.state === 'running');
    expect((await look(id)).tasks[0]?.state).toBe('waiting');
    await rig.ask('POST', `/v1/runs/${id}/cancel`, {});
    expect((await ended(id)).outcome).toBe('cancelled');
    expect(await look(other)).toMatchObject({ state: 'ended', outcome: 'cancelled' });
  });

  test('one that is not waited for is the output at once, and goes its own way', async () => {
    const { parent } = await calling({ wait: false }, { tasks: [{ name: 'hangs', handler: 'hang' }] });
    const run = await ended(await submit(parent));
    const { run: other } = run.tasks[0]!.output as { run: string };
    expect(run.outcome).toBe('succeeded');
    expect((await look(other)).state).not.toBe('ended');
    await rig.ask('POST', `/v1/runs/${other}/cancel`, {});
    expect((await ended(other)).outcome).toBe('cancelled');
  });

  test('over the end of either server there is one child run, and its end is heard of (I11, I17)', async () => {
    const hangs = { tasks: [{ name: 'hangs', handler: 'hang' }] };
    const [there, here] = [await calling({}, hangs), await calling({}, hangs, second, first)];
    const ids = [await submit(there.parent), await submit(here.parent)];
    const children = await Promise.all(ids.map(childOf));
    for (const id of children) await eventually(async () => (await look(id)).tasks[0]?.state === 'running');
    await second.stop();
    await eventually(() => first.host.shardsServed() === 64);
    expect(await Promise.all(ids.map(childOf))).toEqual(children);
    for (const id of children) await rig.ask('POST', `/v1/runs/${id}/cancel`, {});
    for (const id of ids) {
      const run = await ended(id);
      expect(run).toMatchObject({ outcome: 'failed' });
      expect(run.tasks[0]?.error).toMatch(/was cancelled\.$/);
    }
    const made = await rig.sql(`select count(*)::integer as n from run where parent is not null
      and dag_id in (select dag_id from dag where name in ('${there.child}', '${here.child}'))`);
    expect(made).toEqual([{ n: 2 }]);
  });
});
