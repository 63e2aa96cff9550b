/** Loads and fetches of described tables. */
import {
  type AnyRow,
  type AnyTable,
  type FetchedTables,
  LOADED_TABLES,
  type LoadedTables,
  type RowNeed,
  TABLES,
  type TableName,
} from '@signalbox/engine';
import type { CallResult } from '../batch.ts';
import { type Call, call } from '../statement.ts';
import { valueOf } from './column-values.ts';
import { statementsOf } from './table-statements.ts';
import { arrays } from './write-tables.ts';

/** One call per table that is loaded at a takeover. */
export function loadTables(shards: string): Call[] {
  return LOADED_TABLES.map(([, table]) => call(statementsOf(table).load, shards));
}

export function parseTables(results: readonly CallResult[]): LoadedTables {
  const parsed = LOADED_TABLES.map(([name, table], i) => [name, parseRows(table, results[i]!)]);
  return Object.fromEntries(parsed) as LoadedTables;
}

interface RowsAsked {
  /** One per table of which a row is needed. */
  readonly calls: readonly Call[];
  /** Of the results of these calls; others may follow. */
  parse(results: readonly CallResult[]): FetchedTables;
}

export function askRows(needs: readonly RowNeed[]): RowsAsked {
  const keys = new Map<TableName, AnyRow[]>();
  for (const { table, key } of needs) {
    const list = keys.get(table);
    if (list === undefined) keys.set(table, [key]);
    else list.push(key);
  }
  const asked = [...keys].map(([name, list]) => ({ name, table: TABLES[name] as AnyTable, list }));
  return {
    calls: asked.map(({ table, list }) => {
      const { fetch, key } = statementsOf(table);
      return call(fetch, ...arrays(key, list));
    }),
    parse(results) {
      const parsed = asked.map(({ name, table }, i) => [name, parseRows(table, results[i]!)]);
      return Object.fromEntries(parsed) as FetchedTables;
    },
  };
}

function parseRows(table: AnyTable, { rows }: CallResult): AnyRow[] {
  const { read } = statementsOf(table);
  return rows.map((row) =>
    Object.fromEntries(read.map(({ field, column }, i) => [field, valueOf(column, row[i] ?? null)])),
  );
}
