/** Rows of described tables, and how a change writes them: one after the other, as it says. */
import { TABLES } from '../../model/change/kinds.ts';
import type { Change } from '../../model/change.ts';
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
} from '../../model/table/define-table.ts';
import type { TableName, TableNamed } from '../../model/table/stored-tables.ts';
import { Table, type UndoLog } from './table.ts';
import { require, Violation } from './violation.ts';

/** A row as it is stored: what is counted when it is read is missing. */
export type KeptRow<Name extends TableName> = Omit<RowOf<TableNamed<Name>>, CountedOf<TableNamed<Name>['columns']>>;
type CountedOf<C> = { [P in keyof C]: C[P] extends { readonly use: 'counted' } ? P : never }[keyof C];

export class DescribedTables {
  readonly #rows: ReadonlyMap<AnyTable, Table<string, AnyRow>>;

  constructor(log: UndoLog) {
    this.#rows = new Map(Object.values(TABLES).map((table) => [table, new Table(log)]));
  }

  all<Name extends TableName>(name: Name): KeptRow<Name>[] {
    return [...this.of(TABLES[name]).values()] as unknown as KeptRow<Name>[];
  }

  of(table: AnyTable): Table<string, AnyRow> {
    const rows = this.#rows.get(table);
    if (rows === undefined) throw new Error(`The table ${table.name} is not in TABLES.`);
    return rows;
  }
}

export class DescribedWrites implements TableWrites {
  readonly #tables: DescribedTables;
  readonly #change: Change;

  constructor(tables: DescribedTables, change: Change) {
    this.#tables = tables;
    this.#change = change;
  }

  insert<T extends AnyTable>(table: T, row: WrittenRow<T>): void {
    const isNew = !this.#tables.of(table).has(keyTextOf(table, row));
    require(isNew, `unique key of ${table.name}`, this.#change);
    this.#set(table, row);
  }

  put<T extends AnyTable>(table: T, row: WrittenRow<T>): void {
    const { keptIfNull } = table.names;
    if (keptIfNull.length === 0) return this.#set(table, row);
    const before = this.#tables.of(table).get(keyTextOf(table, row));
    const next: Record<string, unknown> = { ...(row as AnyRow) };
    for (const name of keptIfNull) if (next[name] === null) next[name] = before?.[name] ?? null;
    this.#set(table, next);
  }

  patch<T extends AnyTable>(table: T, key: KeyOf<T>, columns: PatchOf<T>): void {
    const before = this.#tables.of(table).get(keyTextOf(table, key));
    if (before === undefined) throw new Violation(`a patched row of ${table.name} is there`, this.#change);
    this.#set(table, { ...before, ...(columns as AnyRow) });
  }

  remove<T extends AnyTable>(table: T, key: RemovalKeyOf<T>): void {
    const rows = this.#tables.of(table);
    if (table.removedBy.length === table.names.key.length) return rows.delete(keyTextOf(table, key));
    const goes = (row: AnyRow) => table.removedBy.every((name) => row[name] === (key as AnyRow)[name]);
    for (const row of [...rows.values()]) if (goes(row)) rows.delete(keyTextOf(table, row));
  }

  #set(table: AnyTable, row: AnyRow): void {
    const kept: Record<string, unknown> = {};
    for (const name of table.names.stored) kept[name] = row[name];
    this.#tables.of(table).set(keyTextOf(table, row), kept);
  }
}
