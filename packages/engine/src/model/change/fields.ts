/**
 * The fields of a change: the TypeScript type of each, and how the journal writes it. A description lists its fields in the
 * order in which the journal has them; the codec in the store, the type of the change, and the random samples of the tests
 * all follow from that list.
 */
import type { Instant, RunId } from '../ids.ts';
import type { WordList } from './words.ts';

/** How a value is written. Texts are written once per row; run ids and instants as the distance from the one before. */
export type Coding =
  | { readonly as: 'uint' | 'run' | 'instant' | 'text' | 'uuid' | 'flag' | 'json' }
  /** The number of a word in its list. */
  | { readonly as: 'word'; readonly list: WordList<string> }
  /** A uint; 0 stands for null. */
  | { readonly as: 'uintOrNull' }
  /** Only whether there is a text; it is read back as an empty one. The text itself stays out of the journal. */
  | { readonly as: 'trace' }
  /** `true`, or the field is absent. */
  | { readonly as: 'mark' }
  /** Not written at all; read back as an empty text. */
  | { readonly as: 'omitted' }
  | { readonly as: 'record'; readonly fields: Fields }
  | { readonly as: 'list'; readonly of: Coding };

export interface Field<T, Optional extends boolean = boolean> {
  readonly coding: Coding;
  /** The field may be absent. */
  readonly isOptional: Optional;
  /** A flag before the value says whether there is one. A field with a bit has its flag in that bit instead. */
  readonly isNullable: boolean;
  /**
   * Fields with a bit share one number, which stands at the place of the first of them. A text with a bit follows at its
   * own place, if there is one. 0: the field has no bit.
   */
  readonly bit: number;
  /** The first layout of the journal that has the field: see `journal-layouts.ts` of the store. */
  readonly since: number;
  /** What the field is in rows of older layouts, where it is not optional. */
  readonly before: T | null;
  /** The field is written only if this other one, which stands before it, is not null; otherwise it is null. */
  readonly onlyWith: string | null;
  /** Carries the type alone: no value has it. */
  readonly type?: T;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;

type Required<F extends Fields> = { [P in keyof F]: F[P]['isOptional'] extends true ? never : P }[keyof F];
type TypeOf<F> = F extends Field<infer T> ? T : never;
type Flat<T> = { [P in keyof T]: T[P] };

/** The object that has these fields. */
export type RecordOf<F extends Fields> = Flat<
  { readonly [P in keyof F as P extends Required<F> ? P : never]: TypeOf<F[P]> } & {
    readonly [P in keyof F as P extends Required<F> ? never : P]?: TypeOf<F[P]>;
  }
>;

function field<T>(coding: Coding): Field<T, false> {
  return { coding, isOptional: false, isNullable: false, bit: 0, since: 1, before: null, onlyWith: null };
}

export const f = {
  uint: <T extends number = number>() => field<T>({ as: 'uint' }),
  text: <T extends string = string>() => field<T>({ as: 'text' }),
  uuid: <T extends string>() => field<T>({ as: 'uuid' }),
  json: <T>() => field<T>({ as: 'json' }),
  run: field<RunId>({ as: 'run' }),
  instant: field<Instant>({ as: 'instant' }),
  flag: field<boolean>({ as: 'flag' }),
  uintOrNull: <T extends number>() => field<T | null>({ as: 'uintOrNull' }),
  trace: field<string | null>({ as: 'trace' }),
  omitted: field<string>({ as: 'omitted' }),
  mark: { ...field<true>({ as: 'mark' }), isOptional: true } as Field<true, true>,
  /** `Word` narrows the list to the words that the field may have. */
  word: <Listed extends string, Word extends Listed = Listed>(list: WordList<Listed>) =>
    field<Word>({ as: 'word', list }),
  record: <const F extends Fields>(fields: F) => field<RecordOf<F>>({ as: 'record', fields }),
  list: <T>(of: Field<T>) => field<readonly T[]>({ as: 'list', of: of.coding }),
  nullable: <T>(of: Field<T, false>): Field<T | null, false> => ({ ...of, isNullable: true }),
  optional: <T>(of: Field<T>): Field<T, true> => ({ ...of, isNullable: true, isOptional: true }),
  /** The field has this bit of the number that such fields share. */
  bit: <T, Optional extends boolean>(bit: number, of: Field<T, Optional>): Field<T, Optional> => ({ ...of, bit }),
  /** The field came with this layout; rows of older ones are read as if it had the value `before`. */
  since: <T, Optional extends boolean>(
    since: number,
    of: Field<T, Optional>,
    before: T | null = null,
  ): Field<T, Optional> => ({ ...of, since, before }),
  onlyWith: <T>(other: string, of: Field<T | null, false>): Field<T | null, false> => ({ ...of, onlyWith: other }),
} as const;
