/** Servers that do not reach each other, though all of them reach the database. */
import { type NodeId, SHARD_COUNT, type ShardNo } from '@signalbox/engine';
import { expect, test } from 'vitest';
import { ownerOf, type Scene, setUp } from './testing/scene.ts';
import type { SimNode } from './world/node.ts';

/** Cuts the ways between two sets of nodes: `out` from the first to the second, `in` the other way. */
function cut({ world }: Scene, inside: readonly SimNode[], outside: readonly SimNode[], ways: 'out' | 'in' | 'both') {
  for (const { machine: a } of inside) {
    for (const { machine: b } of outside) {
      if (a === b) continue;
      if (ways !== 'in') world.network.cut(a, b);
      if (ways !== 'out') world.network.cut(b, a);
    }
  }
}

/** The node at which the only worker is. */
function gatewayOf({ world }: Scene): SimNode {
  const found = world.nodes.find(({ host }) => (host?.gateway.workers().length ?? 0) > 0);
  if (found === undefined) throw new Error('no node has the worker');
  return found;
}

function ownersOf({ watch }: Scene): Set<NodeId | null> {
  return new Set(Array.from({ length: SHARD_COUNT }, (_, shard) => watch.ledger.shard(shard as ShardNo).owner));
}

const takesOf = ({ world }: Scene) => world.database.journal.filter(({ kind }) => kind === 'take').length;

test.each(['out', 'in', 'both'] as const)(
  'a node that is cut off from the others (%s) and has no worker gives its shards up, and its runs start (I18, I29)',
  async (ways) => {
    const box = setUp({ nodes: 3, workers: 1 });
    const { nodes } = box.world;
    await box.pass(6_000);
    const lonely = nodes.find((node) => node !== gatewayOf(box))!;
    const shard = [...Array(SHARD_COUNT).keys()].find((no) => ownerOf(box, no as ShardNo) === lonely)! as ShardNo;
    const dagId = await box.deploy(shard);
    cut(box, [lonely], nodes, ways);
    const since = box.world.now;
    const run = await box.submit(shard, dagId, { at: lonely });
    while (run.phase !== 'ended' && box.world.now < since + 30_000) await box.pass(50);
    expect(run.outcome).toBe('succeeded');
    expect(box.world.now - since).toBeLessThan(8_000);
  },
);

test('a way that is cut for as long as it lasts moves shards once, and they come back when it has healed (I18)', async () => {
  const box = setUp({ nodes: 3, workers: 1 });
  const { nodes, network } = box.world;
  await box.pass(6_000);
  const gateway = gatewayOf(box);
  const lonely = nodes.find((node) => node !== gateway)!;
  const heals = nodes
    .filter((node) => node !== lonely)
    .flatMap(({ machine }) => [network.cut(lonely.machine, machine), network.cut(machine, lonely.machine)]);
  await box.pass(10_000);
  expect(ownersOf(box)).not.toContain(lonely.nodeId);
  expect(ownersOf(box)).not.toContain(null);
  const takes = takesOf(box);
  await box.pass(60_000);
  expect(takesOf(box)).toBe(takes);
  for (const heal of heals) heal();
  await box.pass(15_000);
  expect(ownersOf(box)).toEqual(new Set(nodes.map(({ nodeId }) => nodeId)));
});

test('a way that opens for a moment again and again does not move shards each time', async () => {
  const box = setUp({ nodes: 2, workers: 1 });
  const { nodes, network } = box.world;
  await box.pass(6_000);
  const lonely = nodes.find((node) => node !== gatewayOf(box))!;
  const [a, b] = nodes.map(({ machine }) => machine) as [string, string];
  const takes = takesOf(box);
  for (let i = 0; i < 20; i++) {
    const heals = [network.cut(a, b), network.cut(b, a)];
    await box.pass(9_000);
    for (const heal of heals) heal();
    await box.pass(4_000);
  }
  expect(ownersOf(box)).not.toContain(lonely.nodeId);
  expect(takesOf(box) - takes).toBe(1);
});

test('with everybody cut off from everybody the node that has the worker owns every shard', async () => {
  const box = setUp({ nodes: 3, workers: 1 });
  await box.pass(6_000);
  const gateway = gatewayOf(box);
  cut(box, box.world.nodes, box.world.nodes, 'out');
  await box.pass(12_000);
  expect(ownersOf(box)).toEqual(new Set([gateway.nodeId]));
});

test('with everybody cut off from everybody and no worker anywhere each node keeps what it has (I18)', async () => {
  const box = setUp({ nodes: 3, workers: 0 });
  await box.pass(6_000);
  const takes = takesOf(box);
  cut(box, box.world.nodes, box.world.nodes, 'out');
  await box.pass(30_000);
  expect(ownersOf(box)).toEqual(new Set(box.world.nodes.map(({ nodeId }) => nodeId)));
  expect(takesOf(box)).toBe(takes);
});

test('a node that reaches the worker only by way of a third one gives its shards up too', async () => {
  const box = setUp({ nodes: 3, workers: 1 });
  await box.pass(6_000);
  const gateway = gatewayOf(box);
  const [lonely, between] = box.world.nodes.filter((node) => node !== gateway) as [SimNode, SimNode];
  cut(box, [lonely], [gateway], 'both');
  await box.pass(10_000);
  expect(ownersOf(box)).toEqual(new Set([gateway.nodeId, between.nodeId]));
});

test('workers that come and go move no shard while all nodes reach each other', async () => {
  const box = setUp({ nodes: 3, workers: 1 });
  await box.pass(6_000);
  const takes = takesOf(box);
  const [worker] = box.world.workers;
  for (let i = 0; i < 5; i++) {
    worker?.crash('power');
    await box.pass(8_000);
    worker?.start();
    await box.pass(3_000);
  }
  expect(takesOf(box)).toBe(takes);
});
