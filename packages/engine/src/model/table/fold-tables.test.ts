/** Whatever a batch does to a row, writing it folded or writing each step leaves the same rows. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KeptRows } from '../../tables/kept-rows.ts';
import type { ShardNo } from '../ids.ts';
import { c } from './column.ts';
import { type AnyRow, defineTable, keyText, keyTextOf, type TableWrites } from './define-table.ts';
import { FoldedTables } from './fold-tables.ts';

const SHARD = 3 as ShardNo;
const pools = defineTable('pool', {
  key: { shard: c.shard, name: c.text(), no: c.int32() },
  columns: { slots: c.int32(), note: c.keepIfNull(c.text()), by: c.shown(c.text()) },
  removedBy: ['shard', 'name'],
  load: 'heads',
});

type Step = (tables: TableWrites) => void;
const key = fc.record({
  shard: fc.constant(SHARD),
  name: fc.constantFrom('a', 'b'),
  no: fc.integer({ min: 0, max: 1 }),
});
const note = fc.option(fc.constantFrom('x', 'y'));
const row = fc.record({ slots: fc.integer({ min: 0, max: 9 }), note, by: fc.constant('me') });
const steps = fc.array(
  fc.oneof(
    fc.tuple(key, row).map(
      ([k, r]): Step =>
        (tables) =>
          tables.put(pools, { ...k, ...r }),
    ),
    fc.tuple(key, row).map(
      ([k, r]): Step =>
        (tables) =>
          tables.insert(pools, { ...k, ...r }),
    ),
    fc.tuple(key, row).map(
      ([k, { slots }]): Step =>
        (tables) =>
          tables.patch(pools, k, { slots }),
    ),
    key.map(
      (k): Step =>
        (tables) =>
          tables.remove(pools, k),
    ),
  ),
  { maxLength: 12 },
);

/** Each step that the rows allow. */
function play(before: readonly Step[], list: readonly Step[]): { readonly kept: AnyRow[]; readonly taken: Step[] } {
  const rows = new KeptRows();
  const tryEach = (some: readonly Step[]) =>
    some.filter((step) => {
      try {
        step(rows);
        return true;
      } catch {
        return false;
      }
    });
  tryEach(before);
  const taken = tryEach(list);
  return { kept: sorted([...rows.all(pools)]), taken };
}

const sorted = (rows: AnyRow[]) => rows.sort((a, b) => (keyTextOf(pools, a) < keyTextOf(pools, b) ? -1 : 1));

/** As a database writes a fold: what goes, then what is inserted, put and patched. */
function write(before: readonly AnyRow[], folds: FoldedTables): AnyRow[] {
  const rows = new Map(before.map((one) => [keyTextOf(pools, one), one]));
  for (const fold of folds.all()) {
    for (const gone of fold.removed())
      for (const [name, one] of rows)
        if (keyText(pools.removedBy, one) === keyText(pools.removedBy, gone)) rows.delete(name);
    for (const one of fold.written('insert')) {
      expect(rows.has(keyTextOf(pools, one))).toBe(false);
      rows.set(keyTextOf(pools, one), one);
    }
    for (const one of fold.written('put')) {
      const known = rows.get(keyTextOf(pools, one));
      rows.set(keyTextOf(pools, one), { ...one, note: one['note'] ?? known?.['note'] ?? null });
    }
    for (const one of fold.written('patch')) {
      const known = rows.get(keyTextOf(pools, one));
      expect(known).toBeDefined();
      rows.set(keyTextOf(pools, one), { ...known, ...one });
    }
  }
  return sorted([...rows.values()].map(({ by: _by, ...kept }) => kept));
}

test('a batch of any steps leaves the rows that the steps leave one by one', () => {
  fc.assert(
    fc.property(steps, steps, (before, list) => {
      const { kept: start } = play([], before);
      const { kept: end, taken } = play(before, list);
      const folds = new FoldedTables();
      for (const step of taken) step(folds);
      expect(write(start, folds)).toEqual(end);
    }),
    { numRuns: 2_000 },
  );
});

test('rows of a shard go with it, and are described without what only people see', () => {
  const rows = new KeptRows();
  const other = { shard: 4 as ShardNo, name: 'a', no: 0 };
  rows.put(pools, { shard: SHARD, name: 'a', no: 0, slots: 1, note: null, by: 'me' });
  rows.put(pools, { ...other, slots: 2, note: null, by: 'me' });
  rows.drop(new Set([SHARD]));
  expect(rows.describe(SHARD)).toEqual({});
  expect(rows.describe(other.shard)).toEqual({ pool: [{ ...other, slots: 2, note: null }] });
  expect(rows.get(pools, other)).toMatchObject({ slots: 2 });
});
