/**
 * A shard changes owner while its old owner commits: nothing is lost, and nothing of the old owner comes after the new one
 * (I14, I16, I17).
 */
import type { Epoch, ShardNo } from '@signalbox/engine';
import { expect } from 'vitest';
import { created, deployed } from './changes.ts';
import { eventually } from './eventually.ts';
import { type Check, HOLD_POINTS, isDoneAt, isLockedAt, type StoreSubject } from './subject.ts';
import { GRACE_MS, TestNode } from './test-node.ts';

export const takeoverChecks: readonly Check[] = [
  ...HOLD_POINTS.map((point) => ({
    name: `an owner that stands still ${point} is fenced off by a take, and its late bytes change nothing`,
    run: async (subject: StoreSubject) => {
      const old = await TestNode.start(subject, [5]);
      const next = await TestNode.start(subject);
      const dag = deployed(5, 1);
      await old.commit([dag]);
      const held = await subject.hold(old.store, point);
      const ending = old.tryCommit([created(dag, old.newRunId(5))]);
      await held.reached();
      const heads = await next.takeOver([5], 200);
      const runCount = isDoneAt(point) ? 1 : 0;
      expect(heads.runs).toHaveLength(runCount);
      expect(heads).toMatchObject({ shards: [{ commitNo: 1 + runCount }] });
      held.release();
      if (!isDoneAt(point)) expect(await ending).not.toBe('done');
      await next.commit([created(dag, next.newRunId(5))]);
      const after = await next.load([5]);
      expect(after.runs).toHaveLength(runCount + 1);
      expect(after.shards).toMatchObject([{ ...next.stamp(5), silentWorkers: [] }]);
    },
  })),
  ...HOLD_POINTS.filter(isLockedAt).map((point) => ({
    name: `a take waits for a commit that is ${point}, and loads what it did (I17)`,
    run: async (subject: StoreSubject) => {
      const old = await TestNode.start(subject, [5]);
      const next = await TestNode.start(subject);
      const dag = deployed(5, 1);
      await old.commit([dag]);
      const run = created(dag, old.newRunId(5));
      const held = await subject.hold(old.store, point);
      const ending = old.tryCommit([run]);
      await held.reached();
      let taken = false;
      const taking = next.takeOver([5]).finally(() => {
        taken = true;
      });
      await eventually('the take waits', async () => taken || (await subject.waitingForLock()) > 0);
      expect(taken).toBe(false);
      held.release();
      expect(await ending).toBe('done');
      const heads = await taking;
      expect(heads.runs.map(({ runId }) => runId)).toEqual([run.runId]);
      expect(heads).toMatchObject({ shards: [{ commitNo: 2, lastRunId: run.runId }] });
      expect(await old.tryCommit([created(dag, old.newRunId(5))])).toBe('fenced');
    },
  })),
  {
    name: 'a commit that comes while a take has the row waits for it, and is refused (I14)',
    run: async (subject) => {
      const old = await TestNode.start(subject, [5, 6]);
      const next = await TestNode.start(subject);
      const blocker = await TestNode.start(subject, [7]);
      const held = await subject.hold(blocker.store, 'before commit');
      const blocking = blocker.tryCommit([deployed(7, 1)]);
      await held.reached();
      // The take has the rows of 5 and 6, and waits for that of 7.
      let taken = false;
      const taking = next.take([5, 6, 7]).finally(() => {
        taken = true;
      });
      await eventually('the take waits', async () => taken || (await subject.waitingForLock()) > 0);
      const late = old.tryCommit([deployed(6, 1)]);
      held.release();
      expect(await blocking).toBe('done');
      expect(new Set((await taking).map(({ shard }) => shard))).toEqual(new Set([5, 6, 7]));
      // A store may take shard by shard; then the commit may have come first.
      const ending = await late;
      const { shards } = await next.load([6]);
      expect(shards[0]?.commitNo).toBe(ending === 'done' ? 1 : 0);
      expect(await old.tryCommit([deployed(6, 2)])).not.toBe('done');
    },
  },
  {
    name: 'a note that waits behind a transaction which never ends is given up, and a take clears the way (I72)',
    run: async (subject) => {
      const owner = await TestNode.start(subject, [5]);
      const other = await TestNode.start(subject);
      const held = await subject.hold(owner.store, 'before commit');
      const stuck = owner.tryCommit([deployed(5, 1)]);
      await held.reached();
      await expect(other.store.noteCurrentRun(5 as ShardNo, owner.stamp(5).epoch, null)).rejects.toThrow();
      expect((await other.take([5], 200)).map(({ shard }) => shard)).toEqual([5]);
      held.release();
      expect(await stuck).not.toBe('done');
    },
  },
  {
    name: 'of two nodes that saw the same epoch one takes the shard (I14)',
    run: async (subject) => {
      const nodes = await Promise.all([1, 2, 3].map(() => TestNode.start(subject)));
      const seen = (await (nodes[0] as TestNode).store.observe()).shards.filter(({ shard }) => [5, 9].includes(shard));
      const shards = seen.map(({ shard, epoch }) => ({ shard, seenEpoch: epoch }));
      const takes = await Promise.all(
        nodes.map(({ store, nodeId }) =>
          store.takeShards({ nodeId, shards, lockTimeoutMs: 5_000, windowGraceMs: GRACE_MS }),
        ),
      );
      const owners = [5, 9].map((shard) => takes.filter((taken) => taken.some((one) => one.shard === shard)).length);
      expect(owners).toEqual([1, 1]);
      const after = await (nodes[0] as TestNode).store.observe();
      for (const shard of [5, 9]) {
        const winner = nodes[takes.findIndex((taken) => taken.some((one) => one.shard === shard))];
        expect(after.shards.find((one) => one.shard === shard)?.owner).toBe(winner?.nodeId);
      }
    },
  },
  {
    name: 'a take gets the shards whose epoch is as it was seen, and only those',
    run: async (subject) => {
      const node = await TestNode.start(subject, [6]);
      const now = await Promise.all([5, 6, 7].map((shard) => node.epochOf(shard)));
      const wanted = [5, 6, 7].map((shard, i) => ({
        shard: shard as ShardNo,
        seenEpoch: ((now[i] ?? 0) - (shard === 6 ? 1 : 0)) as Epoch,
      }));
      const taken = await node.store.takeShards({
        nodeId: node.nodeId,
        shards: wanted,
        lockTimeoutMs: 5_000,
        windowGraceMs: GRACE_MS,
      });
      expect([...taken].sort((a, b) => a.shard - b.shard)).toEqual([
        { shard: 5, epoch: (now[0] ?? 0) + 1, loadCount: 1, currentRun: null },
        { shard: 7, epoch: (now[2] ?? 0) + 1, loadCount: 1, currentRun: null },
      ]);
    },
  },
];
