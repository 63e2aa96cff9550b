/** A worker that is told to stop while its servers have troubles of their own: nothing of it waits for its lease (I27). */
import { SHARD_COUNT, type ShardNo } from '@signalbox/engine';
import { expect, test } from 'vitest';
import { ownerOf, type Scene, setUp } from './testing/scene.ts';
import type { SimNode } from './world/node.ts';
import type { SimWorker } from './world/worker.ts';

const SHARDS = Array.from({ length: SHARD_COUNT }, (_, no) => no as ShardNo);

const gatewayOf = ({ world }: Scene, machine: string): SimNode | undefined =>
  world.nodes.find(({ host }) => host?.gateway.workers().some(({ name }) => name === machine));

/** What happens to the servers in the moment in which the worker is told to stop. */
const TROUBLES = {
  'the owner dies in the midst of a decision': (_box: Scene, _gateway: SimNode, owner: SimNode, no: number) =>
    owner.crashAfterMessages(no),
  'its gateway dies in the midst of what it brings': (_box: Scene, gateway: SimNode, _owner: SimNode, no: number) =>
    gateway.crashAfterMessages(no),
  'the owner and its gateway lose each other for a while': (
    { world }: Scene,
    gateway: SimNode,
    owner: SimNode,
    no: number,
  ) => {
    world.events.in(no / 2, () => {
      const [a, b] = [gateway.machine, owner.machine];
      const heals = [world.network.cut(a, b), world.network.cut(b, a)];
      world.events.in(1_500, () => {
        for (const heal of heals) heal();
      });
    });
  },
} as const;

const ROUNDS = 16;
/** A takeover, and a second for a claim that was lost; the lease alone would take 15 s. */
const WITHIN_MS = 11_000;

test.each(Object.entries(TROUBLES))('%s', async (_, trouble) => {
  const waits: number[] = [];
  for (let no = 0; no < ROUNDS; no++) {
    const box = setUp({ nodes: 3, workers: 2, seed: no + 1 });
    await box.pass(5_000);
    const [worker] = box.world.workers as [SimWorker];
    const gateway = gatewayOf(box, worker.machine)!;
    const shard = SHARDS.find((one) => ownerOf(box, one) !== gateway)!;
    const owner = ownerOf(box, shard);
    const survivor = box.world.nodes.find((node) => node !== gateway && node !== owner)!;
    const dagId = await box.deploy(shard);
    const since = box.world.now;
    trouble(box, gateway, owner, no);
    const submitted = box.submit(shard, dagId, { count: 4, at: survivor });
    while (owner.isUp && gateway.isUp && box.world.now < since + 20) await box.pass(0.25);
    worker.drain();
    worker.isWanted = false;
    await submitted;
    while (box.watch.ledger.live.size > 0 && box.world.now < since + 30_000) await box.pass(50);
    waits.push(Math.round(box.world.now - since));
  }
  expect(waits.filter((ms) => ms > WITHIN_MS)).toEqual([]);
});
