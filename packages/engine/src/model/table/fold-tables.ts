/** The rows of described tables that a batch makes: whatever happened to a row within the batch, it is written once. */
import { assert } from '../assert.ts';
import {
  type AnyRow,
  type AnyTable,
  type KeyOf,
  keyText,
  keyTextOf,
  type PatchOf,
  type RemovalKeyOf,
  type TableWrites,
  type WrittenRow,
} from './define-table.ts';

/** One row at the end of the batch. `patch`: only some columns are there. */
interface RowFold {
  readonly write: 'insert' | 'put' | 'patch';
  readonly row: AnyRow;
}

/** The rows that `remove` takes together: nearly always one. */
interface GroupFold {
  /** The part of the key that they have in common. */
  readonly key: AnyRow;
  /** Rows from before the batch, or from before in the batch, go first. */
  isRemoved: boolean;
  readonly rows: Map<string, RowFold>;
}

export class TableFold {
  readonly table: AnyTable;
  readonly #appended: AnyRow[] = [];
  readonly #groups = new Map<string, GroupFold>();

  constructor(table: AnyTable) {
    this.table = table;
  }

  append(row: AnyRow): void {
    this.#appended.push(row);
  }

  write(write: RowFold['write'], row: AnyRow): void {
    const group = this.#groupOf(row);
    const key = keyTextOf(this.table, row);
    const before = group.rows.get(key);
    const { name } = this.table;
    assert(write !== 'insert' || before === undefined, `a row of ${name} is inserted once`);
    assert(write !== 'patch' || before !== undefined || !group.isRemoved, `a row of ${name} that is patched is there`);
    if (before === undefined) group.rows.set(key, { write, row });
    else if (write === 'patch') group.rows.set(key, { write: before.write, row: { ...before.row, ...row } });
    else {
      const kept = before.write === 'insert' ? 'insert' : 'put';
      group.rows.set(key, { write: kept, row: this.#keeping(before.row, row) });
    }
  }

  remove(key: AnyRow): void {
    const group = this.#groupOf(key);
    group.isRemoved = true;
    group.rows.clear();
  }

  removed(): AnyRow[] {
    return [...this.#groups.values()].flatMap(({ isRemoved, key }) => (isRemoved ? [key] : []));
  }

  written(as: RowFold['write']): readonly AnyRow[] {
    if (this.table.isAppendOnly) return as === 'insert' ? this.#appended : [];
    const found: AnyRow[] = [];
    for (const { rows } of this.#groups.values())
      for (const { write, row } of rows.values()) if (write === as) found.push(row);
    return found;
  }

  /** A null leaves what was there, in columns that say so. */
  #keeping(before: AnyRow, row: AnyRow): AnyRow {
    const kept = Object.entries(this.table.columns).filter(
      ([name, { keepsIfNull }]) => keepsIfNull && row[name] === null && before[name] !== undefined,
    );
    return { ...row, ...Object.fromEntries(kept.map(([name]) => [name, before[name]])) };
  }

  #groupOf(row: AnyRow): GroupFold {
    const { removedBy, isAppendOnly, name } = this.table;
    assert(!isAppendOnly, `rows of ${name} are inserted, and never touched again`);
    const key = keyText(removedBy, row);
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = {
        key: Object.fromEntries(removedBy.map((column) => [column, row[column]])),
        isRemoved: false,
        rows: new Map(),
      };
      this.#groups.set(key, group);
    }
    return group;
  }
}

export class FoldedTables implements TableWrites {
  /** Only those that the batch touches. */
  readonly #folds = new Map<AnyTable, TableFold>();

  get size(): number {
    return this.#folds.size;
  }

  all(): Iterable<TableFold> {
    return this.#folds.values();
  }

  insert<T extends AnyTable>(table: T, row: WrittenRow<T>): void {
    if (table.isAppendOnly) this.#of(table).append(row);
    else this.#of(table).write('insert', row);
  }

  put<T extends AnyTable>(table: T, row: WrittenRow<T>): void {
    this.#of(table).write('put', row);
  }

  patch<T extends AnyTable>(table: T, key: KeyOf<T>, columns: PatchOf<T>): void {
    this.#of(table).write('patch', { ...(key as AnyRow), ...(columns as AnyRow) });
  }

  remove<T extends AnyTable>(table: T, key: RemovalKeyOf<T>): void {
    this.#of(table).remove(key);
  }

  #of(table: AnyTable): TableFold {
    let fold = this.#folds.get(table);
    if (fold === undefined) {
      fold = new TableFold(table);
      this.#folds.set(table, fold);
    }
    return fold;
  }
}
