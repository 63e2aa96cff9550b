import { SHARD_COUNT, type ShardNo } from '@signalbox/engine';
import type { Commit } from '@signalbox/store';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { inOrder } from './order.ts';

test('a cursor comes back as it was, whatever its numbers', () => {
  const number = fc.oneof(fc.nat(300), fc.maxSafeNat());
  const cut = fc.array(number, { minLength: SHARD_COUNT, maxLength: SHARD_COUNT });
  const part = fc.option(fc.record({ lead: fc.nat(SHARD_COUNT - 1), changes: number }));
  fc.assert(
    fc.property(cut, part, (numbers, found) => {
      const position = { cut: numbers, part: found as { lead: ShardNo; changes: number } | null };
      expect(decodeCursor(encodeCursor(position))).toEqual(position);
    }),
  );
});

test.each(['', 'AQ', 'Ag', 'x'.repeat(1_000), encodeCursor({ cut: [], part: null }).slice(0, -2)])(
  'what no server has given is no cursor: %s',
  (text) => {
    expect(decodeCursor(text)).toBeNull();
  },
);

/** Commits over random shards, numbered as the database does: each is the next of every shard that it touches. */
const histories = fc.array(fc.uniqueArray(fc.nat(4), { minLength: 1, maxLength: 3 }), { maxLength: 40 }).map((all) => {
  const numbers = new Array<number>(SHARD_COUNT).fill(0);
  return all.map((shards, at): Commit => {
    const sorted = [...shards].sort((a, b) => a - b);
    for (const shard of sorted) numbers[shard] = (numbers[shard] ?? 0) + 1;
    return {
      lead: sorted[0] as ShardNo,
      at: at as Commit['at'],
      shards: sorted.map((shard) => ({ shard: shard as ShardNo, commitNo: numbers[shard] ?? 0 })),
      changes: [],
      unreadable: null,
    };
  });
});

test('of any history each commit comes once, and after all that came before it on its shards (I59)', () => {
  fc.assert(
    fc.property(histories, (history) => {
      const byLead = [...history].sort((a, b) => a.lead - b.lead);
      const ordered = inOrder(new Array<number>(SHARD_COUNT).fill(0), byLead, null);
      expect(ordered.map(({ commit }) => commit.at).sort((a, b) => a - b)).toEqual(history.map(({ at }) => at));
      for (const { commit, before, after } of ordered) {
        for (const { shard, commitNo } of commit.shards)
          expect([before[shard], after[shard]]).toEqual([commitNo - 1, commitNo]);
      }
    }),
  );
});

test('what follows a hole is left for later', () => {
  const commit = (shard: number, commitNo: number): Commit => ({
    lead: shard as ShardNo,
    at: 0 as Commit['at'],
    shards: [{ shard: shard as ShardNo, commitNo }],
    changes: [],
    unreadable: null,
  });
  const cut = new Array<number>(SHARD_COUNT).fill(0);
  expect(inOrder(cut, [commit(1, 2), commit(2, 1)], null).map(({ commit: found }) => found.lead)).toEqual([2]);
});
