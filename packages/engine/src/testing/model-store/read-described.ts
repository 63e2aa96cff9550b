/** Loads and fetches of described tables. */
import { TABLES } from '../../model/change/kinds.ts';
import type { DagId, ShardNo } from '../../model/ids.ts';
import { type AnyRow, type AnyTable, keyTextOf } from '../../model/table/define-table.ts';
import {
  type FetchedTables,
  LOADED_TABLES,
  type LoadedTables,
  type RowNeed,
  type TableName,
} from '../../model/table/stored-tables.ts';
import { liveRuns } from './live-runs.ts';
import type { ModelTables } from './tables.ts';

/** Columns that are counted when a row is read. */
const COUNTED: { readonly [Name in TableName]?: (tables: ModelTables, row: AnyRow) => AnyRow } = {
  backfills(tables, { shard, uid }) {
    const live = liveRuns(tables, [shard as ShardNo]).filter((run) => run.backfill === uid && !run.setAside);
    return { liveRuns: live.length };
  },
};

/** In the order of their keys, as a database returns them. */
export function loadDescribed(
  tables: ModelTables,
  shards: readonly ShardNo[],
): { readonly tables: LoadedTables; readonly needingDag: readonly { shard: ShardNo; dagId: DagId }[] } {
  const needingDag: { shard: ShardNo; dagId: DagId }[] = [];
  const loaded = LOADED_TABLES.map(([name, table]) => {
    const rows = [...tables.described.of(table).values()].filter(
      (row) => shards.includes(row['shard'] as ShardNo) && isLoaded(table, row),
    );
    if (table.bringsDag) needingDag.push(...(rows as unknown as typeof needingDag));
    return [name, rows.sort(byKey(table)).map((row) => counted(tables, name, row))] as const;
  });
  return { tables: Object.fromEntries(loaded) as unknown as LoadedTables, needingDag };
}

export function fetchDescribed(tables: ModelTables, needs: readonly RowNeed[]): FetchedTables {
  const found: Partial<Record<TableName, Map<string, AnyRow>>> = {};
  for (const { table: name, key } of needs) {
    const keyText = keyTextOf(TABLES[name], key);
    const row = tables.described.of(TABLES[name]).get(keyText);
    found[name] ??= new Map();
    if (row !== undefined) found[name].set(keyText, counted(tables, name, row));
  }
  const lists = Object.entries(found).map(([name, rows]) => [name, [...rows.values()]]);
  return Object.fromEntries(lists) as FetchedTables;
}

function isLoaded({ loaded }: AnyTable, row: AnyRow): boolean {
  return loaded === null || loaded.words.includes(row[loaded.column] as string);
}

function counted(tables: ModelTables, name: TableName, row: AnyRow): AnyRow {
  return { ...row, ...COUNTED[name]?.(tables, row) };
}

function byKey({ names }: AnyTable): (a: AnyRow, b: AnyRow) => number {
  return (a, b) => {
    const name = names.key.find((one) => a[one] !== b[one]);
    if (name === undefined) return 0;
    const [x, y] = [a[name] ?? 0, b[name] ?? 0] as [string, string];
    return x < y ? -1 : 1;
  };
}
