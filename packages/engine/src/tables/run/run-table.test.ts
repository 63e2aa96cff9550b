import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RunId, RunRow } from '../../model/ids.ts';
import {
  firstRunIdAt,
  instantOfRun,
  makeRunUid,
  nextRunId,
  shardOfRun,
  shardOfUid,
  uidOfItem,
} from '../../model/ids.ts';
import { roomFor } from '../task/task-table.ts';
import { IdIndex } from './id-index.ts';
import { RunTable } from './run-table.ts';

test('the index finds what is in it and nothing else, whatever comes and goes', () => {
  const moves = fc.array(fc.tuple(fc.boolean(), fc.nat({ max: 80 })), { maxLength: 400, size: 'max' });
  fc.assert(
    fc.property(moves, fc.constantFrom(1, 64, 65_536, 4_194_304), (script, stride) => {
      const ids: number[] = [];
      const index = new IdIndex((slot) => ids[slot]!);
      const model = new Map<number, number>();
      for (const [isAdd, n] of script) {
        const id = (1 + n) * stride;
        if (isAdd && !model.has(id)) {
          model.set(id, ids.length);
          ids.push(id);
          index.add(id as RunId, model.get(id) as RunRow);
        } else if (!isAdd && model.has(id)) {
          index.remove(id as RunId);
          model.delete(id);
        }
        for (let k = 1; k <= 81; k++) expect(index.find((k * stride) as RunId)).toBe(model.get(k * stride) ?? -1);
      }
    }),
    { numRuns: 8 },
  );
});

test('a uid is read back as it was written', () => {
  fc.assert(
    fc.property(fc.uuid(), (uid) => {
      const runs = new RunTable();
      runs.add(
        1 as RunId,
        'ffffffff-ffff-ffff-ffff-ffffffffffff' as never,
        { taskCount: 1, dag: { tenantId: 1 } } as never,
      );
      const slot = runs.add(2 as RunId, uid as never, { taskCount: 1, dag: { tenantId: 1 } } as never);
      expect(runs.uidOf(slot)).toBe(uid);
    }),
  );
});

describe('ids', () => {
  const shards = fc.nat({ max: 63 });
  const instants = fc.integer({ min: 1_577_836_800_000, max: 3_000_000_000_000 });

  test('a run id carries its shard and its second, and rises whatever the clock does (I5)', () => {
    fc.assert(
      fc.property(shards, fc.array(instants, { minLength: 1, maxLength: 50 }), (shard, clock) => {
        let last = 0 as RunId;
        for (const now of clock) {
          const next = nextRunId(shard as never, last, now as never);
          expect(next).toBeGreaterThan(last);
          expect(Number.isSafeInteger(next)).toBe(true);
          expect(shardOfRun(next)).toBe(shard);
          expect(instantOfRun(next)).toBeGreaterThanOrEqual(Math.floor(now / 1000) * 1000);
          expect(next).toBeGreaterThanOrEqual(firstRunIdAt(now as never));
          last = next;
        }
      }),
    );
  });

  test('a second with all its numbers used lends from the next one', () => {
    let last = nextRunId(63 as never, 0 as RunId, 1_800_000_000_000 as never);
    const first = last;
    for (let i = 0; i < 70_000; i++) last = nextRunId(63 as never, last, 1_800_000_000_000 as never);
    expect(shardOfRun(last)).toBe(63);
    expect(instantOfRun(last) - instantOfRun(first)).toBe(1_000);
  });

  test('a run uid carries its shard and its place in a batch', () => {
    fc.assert(
      fc.property(
        shards,
        instants,
        fc.nat({ max: 65_535 }),
        fc.nat({ max: 2 ** 26 - 1 }),
        (shard, at, index, chance) => {
          const uid = makeRunUid(shard as never, at as never, chance * 2 ** 22, chance);
          const item = uidOfItem(uid, index);
          expect(item).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
          expect(shardOfUid(item)).toBe(shard);
          expect(item.slice(30, 34)).toBe(index.toString(16).padStart(4, '0'));
        },
      ),
    );
  });
});

test('blocks of tasks have room enough, and waste a quarter at most', () => {
  for (let length = 0; length <= 10_000; length++) {
    const room = roomFor(length);
    expect(room).toBeGreaterThanOrEqual(length);
    expect(room).toBeLessThanOrEqual(Math.max(length, length * 1.25));
    expect(roomFor(room)).toBe(room);
  }
});

test('runs are counted by tenant, and one that leaves is not counted any more', () => {
  const runs = new RunTable();
  const of = (tenantId: number) => ({ taskCount: 1, dag: { tenantId } }) as never;
  const uid = makeRunUid(1 as never, 0 as never, 0, 1);
  const first = runs.add(1 as RunId, uid, of(1));
  runs.add(2 as RunId, uid, of(1));
  runs.add(3 as RunId, uid, of(2));
  runs.remove(first);
  expect([1, 2, 3].map((tenantId) => runs.liveOf(tenantId as never))).toEqual([1, 1, 0]);
});
