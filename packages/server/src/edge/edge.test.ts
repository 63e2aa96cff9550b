import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
const threads: Worker[] = [];
beforeAll(async () => {
  process.on('worker', (thread) => threads.push(thread));
  rig = await startRig();
});
afterAll(() => rig.stop());

test('an edge that fails is started again on its port, and the node keeps its shards meanwhile (D12)', async () => {
  await rig.addWorker({ echo: ({ params }: { params: unknown }) => params });
  await rig.ask('PUT', '/v1/dags/edge', { name: 'edge', tasks: [{ name: 'a', handler: 'echo' }] });
  const [server] = rig.servers;
  const before = threads.length;
  // Of the node's threads the edge is begun first.
  await threads[0]?.terminate();
  await expect(fetch(`${server?.url}/healthz`)).rejects.toThrow();
  expect(server?.host.shardsServed()).toBe(64);
  await eventually(async () => (await fetch(`${server?.url}/readyz`).catch(() => null))?.status === 200);
  expect(threads.length).toBe(before + 1);
  const { id } = (await rig.ask('POST', '/v1/dags/edge/runs', { params: 1 })).body;
  await eventually(async () => (await rig.ask('GET', `/v1/runs/${id}`)).body.outcome === 'succeeded');
});

test('an edge that cannot be started again is tried until it can (I72)', async () => {
  const [server] = rig.servers;
  const before = threads.length;
  await threads.at(-1)?.terminate();
  const inTheWay = createServer().listen(Number(new URL(server?.url ?? '').port), '127.0.0.1');
  await once(inTheWay, 'listening');
  await eventually(async () => threads.length >= before + 2);
  inTheWay.close();
  await eventually(async () => (await fetch(`${server?.url}/readyz`).catch(() => null))?.status === 200);
});

test('a question that fails in the main thread is answered at once, not at its deadline', async () => {
  const host = rig.servers[0]?.host;
  if (host === undefined) throw new Error('There is no server.');
  const failing = [vi.spyOn(host, 'listWorkers'), vi.spyOn(host, 'drainWorker'), vi.spyOn(host, 'progressOf')];
  try {
    for (const method of failing) method.mockRejectedValue(new Error('the directory is closed'));
    const from = performance.now();
    expect(await rig.ask('GET', '/v1/workers')).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
    expect(await rig.ask('POST', `/v1/workers/${randomUUID()}/drain`)).toMatchObject({
      body: { code: 'UNKNOWN_OUTCOME' },
    });
    // Either deadline is more than 9 s away.
    expect(performance.now() - from).toBeLessThan(5_000);
  } finally {
    for (const method of failing) method.mockRestore();
  }
});
