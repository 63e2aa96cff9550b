/** Which nodes are alive, which shards they own, and how often a shard was loaded without a commit (I18, D3, D5). */
import { randomUUID } from 'node:crypto';
import type { Epoch, NodeId, RunId, ShardNo } from '@signalbox/engine';
import { SHARD_COUNT } from '@signalbox/engine';
import { expect } from 'vitest';
import type { Store } from '../port.ts';
import { deployed, newWorkerId } from './changes.ts';
import type { Check } from './subject.ts';
import { GRACE_MS, TestNode } from './test-node.ts';

async function nodeSeen(store: Store, nodeId: NodeId) {
  return (await store.observe()).nodes.find((node) => node.nodeId === nodeId);
}

/** Longer than `SHORT_MS` by the clock of any store, however slow the machine is. */
const PASS_MS = 300;
const SHORT_MS = 50;
/** Stores keep spans in whole milliseconds, and a timer may fire up to one early. */
const ROUNDING_MS = 10;
const pass = () => new Promise<void>((resolve) => setTimeout(resolve, PASS_MS + ROUNDING_MS));

async function ownerOf(store: Store, shard: number) {
  return (await store.observe()).shards.find((one) => one.shard === shard)?.owner;
}

export const ownershipChecks: readonly Check[] = [
  {
    name: 'all shards are there from the beginning, without an owner',
    run: async (subject) => {
      const { shards, nodes } = await (await subject.open()).observe();
      expect(shards.map(({ shard }) => shard).sort((a, b) => a - b)).toEqual([...Array(SHARD_COUNT).keys()]);
      expect(new Set(shards.map(({ owner }) => owner))).toEqual(new Set([null]));
      expect(nodes).toEqual([]);
    },
  },
  {
    name: 'a node is known with its addresses, its beat rises, and it can leave and be forgotten',
    run: async (subject) => {
      const store = await subject.open();
      const other = await subject.open();
      const nodeId = randomUUID() as NodeId;
      const addresses = {
        peerAddress: 'a.example:7001',
        gatewayAddress: 'a.example:7002',
        dataAddress: 'a.example:7003',
      };
      await store.registerNode({ nodeId, ...addresses, version: '1.2.3' });
      expect(await nodeSeen(other, nodeId)).toEqual({
        nodeId,
        ...addresses,
        beat: 1,
        leaving: false,
        reach: { cutFrom: [], hasWorkers: false },
        journalFormat: expect.any(Number),
      });
      await store.beat(nodeId, GRACE_MS);
      await store.beat(nodeId, GRACE_MS);
      expect(await nodeSeen(other, nodeId)).toMatchObject({ beat: 3, leaving: false });
      await store.markLeaving(nodeId);
      expect(await nodeSeen(other, nodeId)).toMatchObject({ beat: 3, leaving: true });
      await other.forgetNode(nodeId);
      expect(await nodeSeen(store, nodeId)).toBeUndefined();
    },
  },
  {
    name: 'a node tells what it reaches, and tells it anew',
    run: async (subject) => {
      const store = await subject.open();
      const other = await subject.open();
      const [nodeId, a, b] = [randomUUID(), randomUUID(), randomUUID()] as NodeId[] as [NodeId, NodeId, NodeId];
      await store.registerNode({
        nodeId,
        peerAddress: 'a:1',
        gatewayAddress: 'a:2',
        dataAddress: 'a:3',
        version: '1.2.3',
      });
      for (const reach of [
        { cutFrom: [a, b], hasWorkers: true },
        { cutFrom: [b], hasWorkers: false },
        { cutFrom: [], hasWorkers: false },
      ]) {
        await store.tellReach(nodeId, reach);
        expect((await nodeSeen(other, nodeId))?.reach).toEqual(reach);
      }
    },
  },
  {
    name: 'registering again, after an answer that was lost, is not refused and looks alive',
    run: async (subject) => {
      const store = await subject.open();
      const nodeId = randomUUID() as NodeId;
      await store.registerNode({
        nodeId,
        peerAddress: 'a:1',
        gatewayAddress: 'a:2',
        dataAddress: 'a:3',
        version: '1.2.3',
      });
      const moved = { peerAddress: 'b:1', gatewayAddress: 'b:2', dataAddress: 'b:3' };
      await store.registerNode({ nodeId, ...moved, version: '1.2.4' });
      const seen = await nodeSeen(store, nodeId);
      expect(seen).toEqual({
        nodeId,
        beat: 2,
        ...moved,
        leaving: false,
        reach: { cutFrom: [], hasWorkers: false },
        journalFormat: expect.any(Number),
      });
    },
  },
  {
    name: 'a node that owns a shard is not forgotten',
    run: async (subject) => {
      const node = await TestNode.start(subject, [5]);
      await node.store.forgetNode(node.nodeId).catch(() => {});
      expect(await nodeSeen(node.store, node.nodeId)).toBeDefined();
      expect(await ownerOf(node.store, 5)).toBe(node.nodeId);
    },
  },
  {
    name: 'a released shard has no owner, takes no commit, keeps its epoch, and is raised by the next one (I14)',
    run: async (subject) => {
      const node = await TestNode.start(subject, [5]);
      const next = await TestNode.start(subject);
      const { shard, epoch } = node.stamp(5);
      await node.store.releaseShards(node.nodeId, [{ shard, epoch }]);
      expect((await node.store.observe()).shards.find((one) => one.shard === shard)).toEqual({
        shard,
        epoch,
        owner: null,
      });
      expect(await node.tryCommit([deployed(5, 1)])).toBe('fenced');
      await next.takeOver([5]);
      expect(next.stamp(5)).toMatchObject({ epoch: epoch + 1, commitNo: 0 });
      expect(await ownerOf(node.store, 5)).toBe(next.nodeId);
    },
  },
  {
    name: 'a release that comes late takes the shard from nobody (I14)',
    run: async (subject) => {
      const old = await TestNode.start(subject, [5]);
      const next = await TestNode.start(subject, [5]);
      await old.store.releaseShards(old.nodeId, [old.stamp(5)]).catch(() => {});
      expect(await ownerOf(next.store, 5)).toBe(next.nodeId);
      // The same node took it again: the release was meant for the time before.
      const before = next.stamp(5);
      await next.takeOver([5]);
      await next.store.releaseShards(next.nodeId, [before]).catch(() => {});
      expect(await ownerOf(next.store, 5)).toBe(next.nodeId);
    },
  },
  {
    name: 'an owner takes its own shards anew, with a higher epoch (I16)',
    run: async (subject) => {
      const node = await TestNode.start(subject, [5, 6]);
      const before = [node.stamp(5), node.stamp(6)];
      await node.takeOver([5, 6]);
      expect([node.stamp(5).epoch, node.stamp(6).epoch]).toEqual(before.map(({ epoch }) => epoch + 1));
      expect(await node.tryCommit([deployed(5, 1), deployed(6, 1)])).toBe('done');
    },
  },
  {
    name: 'a shard that nobody served for longer than the grace has missed its windows until the take (I2, I8)',
    run: async (subject) => {
      const missedAgo = async (node: TestNode) => (await node.load([5])).shards[0]?.missedAgoMs ?? null;
      const node = await TestNode.start(subject);
      await node.takeOver([5]);
      // Nobody has served it before.
      expect(await missedAgo(node)).toBeGreaterThanOrEqual(0);
      /** What was missed ends with the take, not with a beat or a release before it. */
      const expectMissedUntilTake = async (owner: TestNode) => {
        const began = performance.now();
        await owner.take([5], undefined, SHORT_MS);
        const ago = await missedAgo(owner);
        expect(ago).toBeLessThanOrEqual(performance.now() - began + ROUNDING_MS);
      };
      const isOlder = async (than: number | null) => ((await missedAgo(node)) ?? 0) > (than ?? 0);
      const first = await missedAgo(node);
      await pass();
      // The owner took it anew within the grace: the old break is still known, and is no new one.
      await node.take([5]);
      expect(await isOlder(first)).toBe(true);

      // An owner that died: its last beat counts.
      await node.store.beat(node.nodeId, GRACE_MS);
      await pass();
      const next = await TestNode.start(subject);
      await expectMissedUntilTake(next);
      await pass();
      // Its successor died before it decided anything, and the next one came soon: what was missed stays so.
      const third = await TestNode.start(subject, [5]);
      expect(await missedAgo(third)).toBeGreaterThanOrEqual(PASS_MS);

      // A release in order, and nobody takes it for a while.
      await third.store.releaseShards(third.nodeId, [third.stamp(5)]);
      await pass();
      await expectMissedUntilTake(third);
    },
  },
  {
    name: 'an owner whose beats paused for longer than the grace has missed its windows until it beat again (I2)',
    run: async (subject) => {
      const node = await TestNode.start(subject, [5, 6]);
      await pass();
      const agoBefore = (await node.load([5])).shards[0]!.missedAgoMs!;
      await node.store.beat(node.nodeId, SHORT_MS);
      await node.takeOver([5]);
      await node.store.releaseShards(node.nodeId, [node.stamp(6)]);
      for (const { missedAgoMs } of (await node.load([5, 6])).shards) expect(missedAgoMs).toBeLessThan(agoBefore);
    },
  },
  {
    name: 'how long owners waited for a silent worker is counted, up to their last beat or their release (I25)',
    run: async (subject) => {
      const node = await TestNode.start(subject, [5]);
      const workerId = newWorkerId();
      await node.commit([{ kind: 'WorkerSilenced', shard: 5 as ShardNo, workerId }]);
      const waited = async (owner: TestNode) => (await owner.load([5])).shards[0]!.silentWorkers[0]!;
      expect((await waited(node)).servedMs).toBe(0);
      await pass();
      await node.store.beat(node.nodeId, GRACE_MS);
      // The owner dies: what passes from its last beat to the take counts for nobody.
      await pass();
      const next = await TestNode.start(subject, [5]);
      const first = await waited(next);
      expect(first.servedMs).toBeGreaterThanOrEqual(PASS_MS);
      expect(first.silentMs - first.servedMs).toBeGreaterThanOrEqual(PASS_MS);
      await pass();
      await next.store.releaseShards(next.nodeId, [next.stamp(5)]);
      await pass();
      await next.take([5]);
      const second = await waited(next);
      expect(second.servedMs).toBeGreaterThanOrEqual(first.servedMs + PASS_MS);
      expect(second.silentMs - second.servedMs).toBeGreaterThanOrEqual(2 * PASS_MS);
    },
  },
  {
    name: 'loads without a commit are counted, shard by shard, and a commit starts over',
    run: async (subject) => {
      const node = await TestNode.start(subject, [5]);
      const counts = async (...shards: number[]) => (await node.take(shards)).map(({ loadCount }) => loadCount);
      expect(await counts(5)).toEqual([2]);
      expect(await counts(5, 6)).toEqual([3, 1]);
      await node.takeOver([5]);
      await node.commit([deployed(5, 1)]);
      expect(await counts(5, 6)).toEqual([1, 2]);
    },
  },
  {
    name: 'the run that a careful load touched is told to the next owner, until it is cleared (I57)',
    run: async (subject) => {
      const node = await TestNode.start(subject, [5]);
      const runId = node.newRunId(5);
      const currentRun = async () => (await node.take([5])).map((taken) => taken.currentRun);
      await node.store.noteCurrentRun(5 as ShardNo, node.stamp(5).epoch, runId);
      expect(await currentRun()).toEqual([runId]);
      await node.takeOver([5]);
      // A note of an owner from before is not believed.
      await node.store.noteCurrentRun(5 as ShardNo, (node.stamp(5).epoch - 1) as Epoch, 1 as RunId).catch(() => {});
      expect(await currentRun()).toEqual([runId]);
      await node.takeOver([5]);
      await node.store.noteCurrentRun(5 as ShardNo, node.stamp(5).epoch, null);
      expect(await currentRun()).toEqual([null]);
    },
  },
];
