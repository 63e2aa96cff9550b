/**
 * The description of one table of small objects: its key, its columns, and when its rows are loaded. The fold of a batch into
 * rows, the statements of the store, its loads and fetches, the model store, and the round trip of the conformance suite all
 * follow from it. Runs, tasks, attempts and payloads are hot, and have statements of their own.
 */
import type { Column, Columns, ColumnUse } from './column.ts';

/**
 * `heads`: all rows of a shard are loaded at its takeover. `fetch`: a row is read when a command needs it. `none`: the engine
 * never reads it.
 */
export type Loading = 'heads' | 'fetch' | 'none';

type TypeOf<C> = C extends Column<infer T> ? T : never;
type Flat<T> = { [P in keyof T]: T[P] };
type Used<C extends Columns, Use extends ColumnUse> = {
  readonly [P in keyof C as C[P]['use'] extends Use ? P : never]: TypeOf<C[P]>;
};

export interface TableDescription<
  Name extends string,
  Key extends Columns,
  C extends Columns,
  Load extends Loading,
  Group extends string,
> {
  /** In the database. */
  readonly name: Name;
  /** In the order of the primary key, the shard first. */
  readonly key: Key;
  readonly columns: C;
  /** `remove` takes these first columns of the key: all rows that have them go together. The whole key unless told. */
  readonly removedBy: readonly Group[];
  readonly load: Load;
  /** A row may also be fetched when a command needs it, because a load does not bring all. */
  readonly isFetched: boolean;
  /** Only rows with one of these words are loaded. */
  readonly loaded: { readonly column: string; readonly words: readonly string[] } | null;
  /** A row is of no use without its dag: the load brings the dag along. */
  readonly bringsDag: boolean;
  /** Rows are inserted, and never touched again by a change. */
  readonly isAppendOnly: boolean;
  /** Follows from the columns: found once, because each write of a row asks for it. */
  readonly names: TableNames;
}

export interface TableNames {
  readonly key: readonly string[];
  /** Columns that the engine reads, the key first. */
  readonly read: readonly string[];
  /** Columns that are stored and read, the key first. */
  readonly stored: readonly string[];
  /** Columns in which a `put` with null leaves what was there. */
  readonly keptIfNull: readonly string[];
}

export type AnyTable = TableDescription<string, Columns, Columns, Loading, string>;

interface Options<C extends Columns, Group extends string> {
  readonly removedBy?: readonly Group[];
  readonly isFetched?: boolean;
  readonly loaded?: { readonly column: keyof C & string; readonly words: readonly string[] };
  readonly bringsDag?: boolean;
  readonly isAppendOnly?: boolean;
}

export function defineTable<
  const Name extends string,
  const Key extends Columns,
  const C extends Columns,
  const Load extends Loading,
  const Group extends keyof Key & string = keyof Key & string,
>(
  name: Name,
  {
    key,
    columns,
    load,
    removedBy = Object.keys(key) as Group[],
    isFetched = load === 'fetch',
    loaded,
    bringsDag = false,
    isAppendOnly = false,
  }: { readonly key: Key; readonly columns: C; readonly load: Load } & Options<C, Group>,
): TableDescription<Name, Key, C, Load, Group> {
  const names = namesIn(key, columns);
  return { name, key, columns, removedBy, load, isFetched, loaded: loaded ?? null, bringsDag, isAppendOnly, names };
}

function namesIn(key: Columns, columns: Columns): TableNames {
  const all = [...Object.keys(key), ...Object.keys(columns)];
  return {
    key: Object.keys(key),
    read: all.filter((name) => columns[name]?.use !== 'shown'),
    stored: all.filter((name) => (columns[name]?.use ?? 'stored') === 'stored'),
    keptIfNull: Object.keys(columns).filter((name) => columns[name]!.keepsIfNull),
  };
}

/** A row as the engine gets it. */
export type RowOf<T> =
  T extends TableDescription<string, infer Key, infer C, Loading, string>
    ? Flat<Used<Key, 'stored'> & Used<C, 'stored' | 'counted'>>
    : never;
/** A row as a change writes it. */
export type WrittenRow<T> =
  T extends TableDescription<string, infer Key, infer C, Loading, string>
    ? Flat<Used<Key, 'stored'> & Used<C, 'stored' | 'shown'>>
    : never;
export type KeyOf<T> =
  T extends TableDescription<string, infer Key, Columns, Loading, string> ? Flat<Used<Key, 'stored'>> : never;
/** The part of the key that `remove` takes. */
export type RemovalKeyOf<T> =
  T extends TableDescription<string, infer Key, Columns, Loading, infer Group>
    ? Flat<Pick<Used<Key, 'stored'>, Group & keyof Used<Key, 'stored'>>>
    : never;
/** Some columns of a row. */
export type PatchOf<T> =
  T extends TableDescription<string, Columns, infer C, Loading, string> ? Partial<Used<C, 'stored' | 'shown'>> : never;

/** What a change writes. Each is about one row, but `remove` may be about several: see `removedBy`. */
export interface TableWrites {
  /** A row that was not there. */
  insert<T extends AnyTable>(table: T, row: WrittenRow<T>): void;
  /** A row, whatever was there. */
  put<T extends AnyTable>(table: T, row: WrittenRow<T>): void;
  /** Some columns of a row that is there. */
  patch<T extends AnyTable>(table: T, key: KeyOf<T>, columns: PatchOf<T>): void;
  remove<T extends AnyTable>(table: T, key: RemovalKeyOf<T>): void;
}

/** Any row, where the description says what is in it. */
export type AnyRow = Readonly<Record<string, unknown>>;

/** The key as a text: equal texts are equal keys. Extra fields of the row do not matter. */
export function keyText(columns: readonly string[], row: AnyRow): string {
  let text = '';
  for (const name of columns) {
    const value = row[name];
    text += `${text === '' ? '[' : ','}${typeof value === 'number' ? value : (JSON.stringify(value) ?? 'null')}`;
  }
  return `${text}]`;
}

export function keyTextOf({ names }: AnyTable, row: AnyRow): string {
  return keyText(names.key, row);
}
