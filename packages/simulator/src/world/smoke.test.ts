import { expect, test } from 'vitest';
import { SimClients } from './client.ts';
import { SimNode } from './node.ts';
import { SimWorker } from './worker.ts';
import { planDags, QUEUES } from './workload.ts';
import { World } from './world.ts';

test('smoke', async () => {
  const world = new World({ seed: 7 });
  const clocks = { skewMs: 0, drift: 0 };
  world.nodes.push(new SimNode(world, 'n0', clocks), new SimNode(world, 'n1', clocks));
  world.workers.push(new SimWorker(world, 'w0', { slots: 3, queues: QUEUES }, clocks));
  world.workers.push(new SimWorker(world, 'w1', { slots: 3, queues: QUEUES }, clocks));
  for (const node of world.nodes) node.start();
  for (const worker of world.workers) worker.start();
  const clients = new SimClients(world, planDags(world.chance.fork('dags'), 3));
  clients.start(500);
  const t = performance.now();
  await world.runUntil(30_000);
  clients.stopSchedules();
  await world.runUntil(120_000);
  console.log([...world.history.lines()].slice(0, 400).join('\n'));
  console.log(world.history.broken, world.events.stepCount, performance.now() - t, world.history.hash());
  for (const node of world.nodes) console.log(node.host?.inspect()?.runs.count, node.host?.shardsServed());
  expect(world.history.broken).toBe(null);
});
