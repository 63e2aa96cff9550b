/** Values of described columns on their way into SQL and back. */
import type { Column, WordList } from '@signalbox/engine';
import { type Codes, codesOf } from '../codes.ts';
import { decodeText, nullableArray, textArray } from '../text.ts';

type AnyColumn = Column<unknown>;

const SQL_TYPES = {
  int16: 'smallint',
  int32: 'integer',
  int64: 'bigint',
  text: 'text',
  uuid: 'uuid',
  flag: 'boolean',
  json: 'json',
  word: 'smallint',
} as const;

export function sqlTypeOf({ coding }: AnyColumn): string {
  return SQL_TYPES[coding.as];
}

const known = new Map<WordList<string>, Codes<string>>();

export function codesOfList(list: WordList<string>): Codes<string> {
  let codes = known.get(list);
  if (codes === undefined) {
    codes = codesOf(list);
    known.set(list, codes);
  }
  return codes;
}

/** One parameter: an array of the values of a column. What is absent is null. */
export function arrayOf({ coding, nullIsZero }: AnyColumn, values: readonly unknown[]): string {
  switch (coding.as) {
    case 'text':
    case 'uuid':
      return textArray(values as readonly (string | null)[]);
    case 'json':
      return textArray(values.map((value) => (value === undefined || value === null ? null : JSON.stringify(value))));
    case 'word': {
      const codes = codesOfList(coding.list);
      return nullableArray((values as readonly (string | null)[]).map((word) => (word ? codes.code(word) : null)));
    }
    default: {
      const plain = values as readonly (number | boolean | null)[];
      return nullableArray(nullIsZero ? plain.map((value) => value ?? 0) : plain);
    }
  }
}

/** A value as the server sent it. */
export function valueOf({ coding, nullIsZero }: AnyColumn, sent: string | null): unknown {
  if (sent === null) return null;
  switch (coding.as) {
    case 'text':
      return decodeText(sent);
    case 'uuid':
      return sent;
    case 'json':
      return JSON.parse(decodeText(sent));
    case 'flag':
      return sent === 't';
    case 'word':
      return codesOfList(coding.list).word(Number(sent));
    default: {
      const value = Number(sent);
      return nullIsZero && value === 0 ? null : value;
    }
  }
}
