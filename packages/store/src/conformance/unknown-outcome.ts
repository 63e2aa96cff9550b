/** A commit whose answer is lost may have been done; loading under a new epoch tells, for good (I12, I16, I60). */
import { expect } from 'vitest';
import { deployed } from './changes.ts';
import { eventually } from './eventually.ts';
import { type Check, HOLD_POINTS, isDoneAt, type StoreSubject } from './subject.ts';
import { TestNode } from './test-node.ts';

export const unknownOutcomeChecks: readonly Check[] = [
  ...HOLD_POINTS.map((point) => ({
    name: `cut ${point}: unknown to the caller, and loading tells that it was ${isDoneAt(point) ? '' : 'not '}done`,
    run: async (subject: StoreSubject) => {
      const node = await TestNode.start(subject, [5]);
      const held = await subject.hold(node.store, point);
      const ending = node.tryCommit([deployed(5, 1)]);
      await held.reached();
      held.cut();
      expect(await ending).toBe('unknown');
      expect(await node.tryCommit([deployed(5, 2)])).not.toBe('done');
      await node.takeOver([5]);
      const commitNo = isDoneAt(point) ? 1 : 0;
      expect(node.stamp(5).commitNo).toBe(commitNo);
      expect(await node.tryCommit([deployed(5, 3)])).toBe('done');
      expect(await node.load([5])).toMatchObject({ shards: [{ commitNo: commitNo + 1, lastDagNo: 3 }] });
    },
  })),
  ...HOLD_POINTS.map((point) => ({
    name: `cut ${point} with more in flight: what is done is a beginning of what was sent`,
    run: async (subject: StoreSubject) => {
      const node = await TestNode.start(subject, [5, 6]);
      await node.commit([deployed(5, 1), deployed(6, 1)]);
      const held = await subject.hold(node.store, point);
      const endings = Promise.all([5, 6, 5].map((shard, no) => node.tryCommit([deployed(shard, no + 2)])));
      await held.reached();
      held.cut();
      expect(await endings).toEqual(['unknown', 'unknown', 'unknown']);
      const heads = await node.takeOver([5, 6]);
      const numbers = heads.shards.map(({ commitNo }) => commitNo - 1).join();
      expect(isDoneAt(point) ? ['1,0', '1,1', '2,1'] : ['0,0']).toContain(numbers);
      const stamps = ({ shards }: typeof heads) => shards.map(({ missedAgoMs: _missedAgoMs, ...stamp }) => stamp);
      expect(stamps(await node.load([5, 6]))).toEqual(stamps(heads));
    },
  })),
  {
    name: 'a restart of the database ends what is in flight and loses nothing of before; the same store goes on (I60)',
    run: async (subject) => {
      const node = await TestNode.start(subject, [5]);
      await node.commit([deployed(5, 1)]);
      const held = await subject.hold(node.store, 'before commit');
      const ending = node.tryCommit([deployed(5, 2)]);
      await held.reached();
      await subject.restartDatabase();
      expect(await ending).not.toBe('done');
      held.release();
      // A pooled connection from before may fail once; that is not what is asked here.
      await eventually('the store answers after the restart', () =>
        node.store.observe().then(
          () => true,
          () => false,
        ),
      );
      const heads = await node.takeOver([5]);
      expect(heads).toMatchObject({ shards: [{ commitNo: 1, lastDagNo: 1 }] });
      expect(await node.tryCommit([deployed(5, 2)])).toBe('done');
    },
  },
];
