/**
 * Rows of described tables as they are, for those that need no more in memory than that: what is stored of a row can be read by
 * its key. A kind of change that writes such a row is applied by `applyRows`, and a load restores it by `keepRow`.
 */
import { assert } from '../model/assert.ts';
import type { ShardNo } from '../model/ids.ts';
import {
  type AnyRow,
  type AnyTable,
  type KeyOf,
  keyTextOf,
  type PatchOf,
  type RemovalKeyOf,
  type RowOf,
  type TableWrites,
  type WrittenRow,
} from '../model/table/define-table.ts';

export class KeptRows implements TableWrites {
  private readonly byTable = new Map<AnyTable, Map<string, AnyRow>>();

  get<T extends AnyTable>(table: T, key: KeyOf<T>): RowOf<T> | undefined {
    return this.byTable.get(table)?.get(keyTextOf(table, key)) as RowOf<T> | undefined;
  }

  /** In the order in which they came. */
  all<T extends AnyTable>(table: T): Iterable<RowOf<T>> {
    return (this.byTable.get(table)?.values() ?? []) as Iterable<RowOf<T>>;
  }

  /** As a load brings it. */
  keep(table: AnyTable, row: AnyRow): void {
    this.of(table).set(keyTextOf(table, row), row);
  }

  insert<T extends AnyTable>(table: T, row: WrittenRow<T>): void {
    assert(!this.of(table).has(keyTextOf(table, row)), `a row of ${table.name} is inserted once`);
    this.put(table, row);
  }

  put<T extends AnyTable>(table: T, row: WrittenRow<T>): void {
    const written = row as AnyRow;
    if (table.names.keptIfNull.length === 0) return this.keep(table, readPart(table, written));
    const before = this.of(table).get(keyTextOf(table, row));
    const next: Record<string, unknown> = { ...written };
    for (const name of table.names.keptIfNull) if (written[name] === null) next[name] = before?.[name];
    this.keep(table, readPart(table, next));
  }

  patch<T extends AnyTable>(table: T, key: KeyOf<T>, columns: PatchOf<T>): void {
    const before = this.of(table).get(keyTextOf(table, key));
    assert(before !== undefined, `a row of ${table.name} that is patched is there`);
    this.keep(table, readPart(table, { ...before, ...(columns as AnyRow) }));
  }

  remove<T extends AnyTable>(table: T, key: RemovalKeyOf<T>): void {
    const rows = this.of(table);
    const wanted = key as AnyRow;
    if (table.removedBy.length === table.names.key.length) rows.delete(keyTextOf(table, wanted));
    else
      for (const [name, row] of rows)
        if (table.removedBy.every((column) => row[column] === wanted[column])) rows.delete(name);
  }

  drop(shards: ReadonlySet<ShardNo>): void {
    for (const rows of this.byTable.values())
      for (const [name, { shard }] of rows) if (shards.has(shard as ShardNo)) rows.delete(name);
  }

  /** By table, in the order of the keys. */
  describe(shard: ShardNo): unknown {
    const described: (readonly [string, readonly AnyRow[]])[] = [];
    for (const [{ name }, rows] of this.byTable) {
      const own: (readonly [string, AnyRow])[] = [];
      for (const entry of rows) if (entry[1]['shard'] === shard) own.push(entry);
      if (own.length > 0) described.push([name, own.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)]);
    }
    return Object.fromEntries(described.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  private of(table: AnyTable): Map<string, AnyRow> {
    let rows = this.byTable.get(table);
    if (rows === undefined) {
      rows = new Map();
      this.byTable.set(table, rows);
    }
    return rows;
  }
}

/** What is for people only stays out of memory. */
function readPart(table: AnyTable, row: AnyRow): AnyRow {
  const part: Record<string, unknown> = {};
  for (const name of table.names.read) part[name] = row[name] ?? null;
  return part;
}
