import type { ShardNo } from '@signalbox/engine';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { firstShard } from './rest/dag-lookup.ts';
import type { RunningServer } from './start.ts';
import { eventually, type Rig, startRig } from './testing/rig.ts';

let rig: Rig;
let [first, second] = [] as unknown as [RunningServer, RunningServer];
beforeAll(async () => {
  rig = await startRig();
  first = rig.servers[0] as RunningServer;
  second = await rig.addServer();
  await eventually(() => first.host.shardsServed() > 0 && second.host.shardsServed() > 0);
  await eventually(() => first.host.shardsServed() + second.host.shardsServed() === 64);
});
afterAll(() => rig.stop());

/** A dag name whose shard that server owns. */
const nameOwnedBy = (owner: RunningServer): string => {
  for (let i = 0; ; i++) {
    const shard: ShardNo = firstShard(1 as Parameters<typeof firstShard>[0], `dag-${i}`);
    if (owner.host.directory.ownerOf(shard)?.nodeId === owner.nodeId) return `dag-${i}`;
  }
};

const endedOn = async (server: RunningServer, id: string) => {
  const look = async () => (await rig.ask('GET', `/v1/runs/${id}`, undefined, { server })).body;
  await eventually(async () => (await look()).state === 'ended');
  return look();
};

test('what one server is asked and another owns goes there and back, and so does the work', async () => {
  // The worker's stream ends at the second server.
  await rig.addWorker({ echo: ({ params }: { params: unknown }) => params });
  for (const [owner, asked] of [
    [first, second],
    [second, first],
  ] as const) {
    const name = nameOwnedBy(owner);
    const tasks = [
      { name: 'a', handler: 'echo' },
      { name: 'b', handler: 'echo', needs: ['a'] },
    ];
    const deployed = await rig.ask('PUT', `/v1/dags/${name}`, { name, tasks }, { server: asked });
    expect(deployed.status).toBe(200);
    const headers = { 'idempotency-key': 'k' };
    const submitted = await rig.ask('POST', `/v1/dags/${name}/runs`, { params: 1 }, { server: asked, headers });
    expect(submitted.status).toBe(201);
    const run = await endedOn(asked, submitted.body.id);
    expect(run.outcome).toBe('succeeded');
    // The owner knows the key too.
    const again = await rig.ask('POST', `/v1/dags/${name}/runs`, { params: 1 }, { server: owner, headers });
    expect(again.body).toEqual(submitted.body);
  }
});

test('a run of one server is cancelled through the other, and its attempt is stopped', async () => {
  const name = nameOwnedBy(first);
  await rig.addWorker(
    {
      hang: ({ signal }: { signal: AbortSignal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    },
    { queues: ['hangs'] },
  );
  const tasks = [{ name: 'a', handler: 'hang', queue: 'hangs' }];
  await rig.ask('PUT', `/v1/dags/${name}`, { name, tasks }, { server: second });
  const { id } = (await rig.ask('POST', `/v1/dags/${name}/runs`, {}, { server: second })).body;
  await eventually(async () => (await rig.ask('GET', `/v1/runs/${id}`)).body.tasks[0]?.state === 'running');
  await rig.ask('POST', `/v1/runs/${id}/cancel`, {}, { server: second });
  expect((await endedOn(first, id)).outcome).toBe('cancelled');
});

test('a server that leaves in order hands its shards over within a second, and its workers find the other (I18, I27)', async () => {
  const name = nameOwnedBy(second);
  await rig.ask('PUT', `/v1/dags/${name}`, { name, tasks: [{ name: 'a', handler: 'echo' }] }, { server: first });
  const began = performance.now();
  await second.stop();
  await eventually(() => first.host.shardsServed() === 64, 5_000);
  expect(performance.now() - began).toBeLessThan(3_000);
  const { id } = (await rig.ask('POST', `/v1/dags/${name}/runs`, { params: 2 }, { server: first })).body;
  expect((await endedOn(first, id)).outcome).toBe('succeeded');
});
