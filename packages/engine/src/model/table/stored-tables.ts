/** Rows of described tables as loads and fetches return them. */
import { TABLES } from '../change/kinds.ts';
import type { Columns } from './column.ts';
import type { AnyTable, KeyOf, RowOf, TableDescription } from './define-table.ts';

type Tables = typeof TABLES;
export type TableName = keyof Tables;
export type TableNamed<Name extends TableName> = Tables[Name];
/** The tables whose rows are loaded at a takeover. */
export type LoadedTable = {
  [Name in TableName]: Tables[Name] extends TableDescription<string, Columns, Columns, 'heads', string> ? Name : never;
}[TableName];

export type LoadedTables = { readonly [Name in LoadedTable]: readonly RowOf<Tables[Name]>[] };
/** Only tables of which something was asked for. */
export type FetchedTables = { readonly [Name in TableName]?: readonly RowOf<Tables[Name]>[] };

/** A row that a command must see. */
export type RowNeed = {
  readonly [Name in TableName]: { readonly kind: 'row'; readonly table: Name; readonly key: KeyOf<Tables[Name]> };
}[TableName];

const ALL = Object.entries(TABLES) as [TableName, AnyTable][];

export const LOADED_TABLES = ALL.filter(([, { load }]) => load === 'heads') as [LoadedTable, AnyTable][];
export const FETCHED_TABLES = ALL.filter(([, { isFetched }]) => isFetched);

/** What a load returns where nothing is stored. */
export function noTables(): LoadedTables {
  return Object.fromEntries(LOADED_TABLES.map(([name]) => [name, []])) as unknown as LoadedTables;
}
