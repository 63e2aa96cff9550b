/** The columns of a described table: the TypeScript type of each, and how a store keeps it. */
import type { WordList } from '../change/words.ts';
import type { Instant, ShardNo } from '../ids.ts';

/** How a value is kept. */
type ColumnCoding =
  | { readonly as: 'int16' | 'int32' | 'int64' | 'text' | 'uuid' | 'flag' | 'json' }
  /** The number of a word in its list. */
  | { readonly as: 'word'; readonly list: WordList<string> };

/**
 * `stored`: written and read. `shown`: written for people; queries read it, the engine never does. `counted`: not stored; the
 * store counts it from other rows when it reads the row.
 */
export type ColumnUse = 'stored' | 'shown' | 'counted';

export interface Column<T, Use extends ColumnUse = ColumnUse> {
  readonly coding: ColumnCoding;
  readonly use: Use;
  readonly isNullable: boolean;
  /** Null is kept as 0, because a key has no null. */
  readonly nullIsZero: boolean;
  /** A `put` with null leaves the value that an earlier row has. */
  readonly keepsIfNull: boolean;
  /** The name in the database, where it is not the name in snake_case. */
  readonly name: string | null;
  /** Carries the type alone: no value has it. */
  readonly type?: T;
}

export type Columns = Readonly<Record<string, Column<unknown>>>;
type StoredColumn<T> = Column<T, 'stored'>;

function column<T>(coding: ColumnCoding): StoredColumn<T> {
  return { coding, use: 'stored', isNullable: false, nullIsZero: false, keepsIfNull: false, name: null };
}

export const c = {
  /** The first column of each key. */
  shard: column<ShardNo>({ as: 'int16' }),
  int32: <T extends number = number>() => column<T>({ as: 'int32' }),
  int64: <T extends number = number>() => column<T>({ as: 'int64' }),
  instant: column<Instant>({ as: 'int64' }),
  text: <T extends string = string>() => column<T>({ as: 'text' }),
  uuid: <T extends string>() => column<T>({ as: 'uuid' }),
  flag: column<boolean>({ as: 'flag' }),
  json: <T>() => column<T>({ as: 'json' }),
  /** `Word` narrows the list to the words that the column may have. */
  word: <Listed extends string, Word extends Listed = Listed>(list: WordList<Listed>) =>
    column<Word>({ as: 'word', list }),
  counted: { ...column<number>({ as: 'int64' }), use: 'counted' } as Column<number, 'counted'>,
  nullable: <T, Use extends ColumnUse>(of: Column<T, Use>): Column<T | null, Use> => ({ ...of, isNullable: true }),
  zeroForNull: <T extends number>(of: StoredColumn<T>): StoredColumn<T | null> => ({ ...of, nullIsZero: true }),
  keepIfNull: <T, Use extends ColumnUse>(of: Column<T, Use>): Column<T | null, Use> => ({
    ...of,
    isNullable: true,
    keepsIfNull: true,
  }),
  shown: <T>(of: Column<T>): Column<T, 'shown'> => ({ ...of, use: 'shown' }),
  named: <T, Use extends ColumnUse>(name: string, of: Column<T, Use>): Column<T, Use> => ({ ...of, name }),
} as const;
