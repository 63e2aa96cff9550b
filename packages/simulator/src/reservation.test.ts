/** Tasks that want much, under a stream of small ones: they start all the same. */
import type { DagSpec, ShardNo } from '@signalbox/engine';
import { expect, test } from 'vitest';
import { CLOCKS, JOB, ownerOf, queue, type Scene, setUp } from './testing/scene.ts';
import { SimWorker } from './world/worker.ts';

const SMALL = 11 as ShardNo;
const LARGE = 12 as ShardNo;
const handled = (handler: string, more = {}): DagSpec => ({
  ...JOB,
  tasks: [{ ...JOB.tasks[0]!, handler, ...more, retry: { ...JOB.tasks[0]!.retry, maxAttempts: 9 } }],
});

async function crowded(nodes: number): Promise<Scene> {
  const box = setUp({ nodes, workers: 0 });
  const { world } = box;
  const traits = { slots: 2, resources: { cpu: 2_000 }, labels: {} };
  for (const name of ['w0', 'w1'])
    world.workers.push(new SimWorker(world, name, { slots: 2, queues: [queue], tenants: null, traits }, CLOCKS));
  for (const worker of world.workers) worker.start();
  await box.pass(4_000);
  const dagId = await box.deploy(SMALL, handled('long', { placement: { resources: { cpu: 1_000 } } }));
  await box.submit(SMALL, dagId, { count: 200 });
  await box.pass(1_000);
  return box;
}

test.each([
  ['a worker for itself', 1, { exclusive: true }],
  ['a worker for itself', 3, { exclusive: true }],
  ['all that a worker has', 1, { resources: { cpu: 2_000 } }],
  ['all that a worker has', 3, { resources: { cpu: 2_000 } }],
] as const)('a task that wants %s starts while small ones still wait, with %d servers', async (_, nodes, placement) => {
  const box = await crowded(nodes);
  const dagId = await box.deploy(LARGE, handled('quick', { placement }));
  const run = await box.submit(LARGE, dagId);
  const since = box.world.now;
  while (run.phase !== 'ended' && box.world.now < since + 200_000) await box.pass(100);
  expect(run.outcome).toBe('succeeded');
  const waiting = [...box.watch.ledger.live].filter(({ phase }) => phase === 'open').length;
  expect(waiting).toBeGreaterThan(20);
  // What was reserved is used again.
  await box.pass(10_000);
  expect([...box.watch.ledger.live].filter(({ phase }) => phase === 'open').length).toBeLessThan(waiting);
});

test('its owner is killed while a worker is reserved: the next one has it reserved again', async () => {
  const box = await crowded(3);
  const dagId = await box.deploy(LARGE, handled('quick', { placement: { exclusive: true } }));
  const run = await box.submit(LARGE, dagId);
  await box.pass(box.world.settings.reserveAfterMs + 2_500);
  ownerOf(box, LARGE).crash('kill');
  const since = box.world.now;
  while (run.phase !== 'ended' && box.world.now < since + 200_000) await box.pass(100);
  expect(run.outcome).toBe('succeeded');
  expect([...box.watch.ledger.live].filter(({ phase }) => phase === 'open').length).toBeGreaterThan(20);
});
