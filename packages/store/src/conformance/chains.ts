/** A node has one chain that can commit: the newest. Closing one ends what it has in flight (I16). */
import { expect } from 'vitest';
import { deployed, START } from './changes.ts';
import { endingOf } from './eventually.ts';
import { type Check, HOLD_POINTS, isDoneAt, type StoreSubject } from './subject.ts';
import { TestNode } from './test-node.ts';

export const chainChecks: readonly Check[] = [
  {
    name: 'a new chain voids the older one of the same node, which is idle',
    run: async (subject) => {
      const node = await TestNode.start(subject, [5]);
      await node.commit([deployed(5, 1)]);
      const older = node.chain;
      const newer = await node.store.openChain(node.nodeId);
      const batch = node.batch([deployed(5, 2)]);
      expect(await endingOf(older.commit(batch))).not.toBe('done');
      expect(await endingOf(newer.commit(batch))).toBe('done');
      expect(await node.load([5])).toMatchObject({ shards: [{ commitNo: 2 }] });
    },
  },
  {
    name: 'a new chain leaves those of other nodes alone',
    run: async (subject) => {
      const node = await TestNode.start(subject, [5]);
      await TestNode.start(subject, [6]);
      expect(await node.tryCommit([deployed(5, 1)])).toBe('done');
    },
  },
  ...HOLD_POINTS.map((point) => ({
    name: `a new chain voids what an older one has in flight, ${point}`,
    run: async (subject: StoreSubject) => {
      const node = await TestNode.start(subject, [5]);
      const held = await subject.hold(node.store, point);
      const ending = node.tryCommit([deployed(5, 1)]);
      await held.reached();
      const newer = await node.store.openChain(node.nodeId);
      const done = isDoneAt(point) ? 1 : 0;
      expect(await node.load([5])).toMatchObject({ shards: [{ commitNo: done }] });
      held.release();
      if (done === 0) expect(await ending).not.toBe('done');
      // A commit through the same rows comes after whatever the late bytes could have done.
      const stamp = { ...node.stamp(5), commitNo: done + 1, lastDagNo: 2 };
      await newer.commit({ shards: [stamp], changes: [deployed(5, 2)], at: START });
      expect((await node.load([5])).shards).toMatchObject([{ ...stamp, silentWorkers: [] }]);
    },
  })),
  ...HOLD_POINTS.map((point) => ({
    name: `once a chain is closed nothing of it becomes true any more, ${point}`,
    run: async (subject: StoreSubject) => {
      const node = await TestNode.start(subject, [5]);
      const held = await subject.hold(node.store, point);
      const ending = node.tryCommit([deployed(5, 1)]);
      await held.reached();
      await node.chain.close();
      expect(await ending).toBe('unknown');
      expect(await node.tryCommit([deployed(5, 2)])).not.toBe('done');
      const commitNo = isDoneAt(point) ? 1 : 0;
      expect(await node.load([5])).toMatchObject({ shards: [{ commitNo }] });
      held.release();
      await node.takeOver([5]);
      expect(node.stamp(5).commitNo).toBe(commitNo);
    },
  })),
];
