/** All servers and workers are killed at once and started again where they were, as after a power cut. */
import type { ShardNo } from '@signalbox/engine';
import { expect, test } from 'vitest';
import { setUp } from './testing/scene.ts';

const ROUNDS = 9;

test('work goes on within two seconds of the start: nobody waits for the beat of a process that is known to be gone (I18, I72)', async () => {
  const waits: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const box = setUp({ nodes: 3, workers: 2, seed: round + 1 });
    const { world } = box;
    await box.pass(5_000);
    const shards = [3, 17, 31, 45, 59] as ShardNo[];
    const dags = new Map<ShardNo, Awaited<ReturnType<typeof box.deploy>>>();
    for (const shard of shards) dags.set(shard, await box.deploy(shard));
    for (const machine of [...world.nodes, ...world.workers]) machine.crash('kill');
    await box.pass(1_000);
    const since = world.now;
    for (const machine of [...world.nodes, ...world.workers]) machine.start();
    const runs = await Promise.all(shards.map((shard) => box.submit(shard, dags.get(shard)!)));
    while (runs.some(({ phase }) => phase !== 'ended') && world.now < since + 20_000) await box.pass(10);
    waits.push(Math.round(world.now - since));
  }
  waits.sort((a, b) => a - b);
  console.log(`everything killed: runs on five shards have ended after ${waits.join(', ')} ms (simulated)`);
  expect(waits.at(-1)).toBeLessThan(2_500);
});
