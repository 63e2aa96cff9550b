/**
 * Columns of integers, flags and UUIDs on their way into SQL, as binary arrays. Text arrays (`text.ts`) are made of one string per
 * number and parsed again by the server; these are not. The element type has to be exactly that of the parameter.
 *
 * A column in which every value is missing is sent as null instead of an array of nulls: `rowsOf` walks its arrays in step and
 * fills up shorter ones, so the column is null in each row.
 */
import { writeUuid } from './uuid-bytes.ts';

const HEAD_BYTES = 20;
const OID = { boolean: 16, bigint: 20, smallint: 21, integer: 23, uuid: 2950 } as const;
const NO_VALUE = -1;
const TWO_TO_32 = 2 ** 32;

type Numbers = readonly (number | null)[];

/** `bigint[]` */
export function bigints(values: Numbers): Buffer | null {
  return numbersOf(OID.bigint, 8, Number.MAX_SAFE_INTEGER, values);
}

/** `integer[]` */
export function integers(values: Numbers): Buffer | null {
  return numbersOf(OID.integer, 4, 0x7fff_ffff, values);
}

/** `smallint[]` */
export function smallints(values: Numbers): Buffer | null {
  return numbersOf(OID.smallint, 2, 0x7fff, values);
}

/** `boolean[]` */
export function booleans(values: readonly (boolean | null)[]): Buffer | null {
  return columnOf(OID.boolean, 1, values, (bytes, at, value) => {
    bytes[at] = value ? 1 : 0;
  });
}

/** `uuid[]` */
export function uuids(values: readonly (string | null)[]): Buffer | null {
  return columnOf(OID.uuid, 16, values, writeUuid);
}

/** All sizes in one loop, byte by byte: a call of `Buffer` for each number took three times as long, and commits are full of them. */
function numbersOf(oid: number, size: 2 | 4 | 8, most: number, values: Numbers): Buffer | null {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + values.length * (4 + size));
  let at = HEAD_BYTES;
  let missing = 0;
  for (let no = 0; no < values.length; no++) {
    const value = values[no]!;
    if (value === null) {
      missing += 1;
      putInt32(bytes, at, NO_VALUE);
      at += 4;
      continue;
    }
    const whole = asWhole(value, most);
    putInt32(bytes, at, size);
    at += 4;
    if (size === 2) {
      bytes[at] = whole >> 8;
      bytes[at + 1] = whole;
    } else {
      if (size === 8) putInt32(bytes, at, Math.floor(whole / TWO_TO_32));
      putInt32(bytes, at + size - 4, whole);
    }
    at += size;
  }
  return finished(bytes, at, oid, values.length, missing);
}

/** The lower 32 bits, as those of any whole number that a double holds. */
function putInt32(bytes: Buffer, at: number, value: number): void {
  const bits = value | 0;
  bytes[at] = bits >>> 24;
  bytes[at + 1] = bits >>> 16;
  bytes[at + 2] = bits >>> 8;
  bytes[at + 3] = bits;
}

function columnOf<T>(
  oid: number,
  size: number,
  values: readonly (T | null)[],
  write: (bytes: Buffer, at: number, value: T) => void,
): Buffer | null {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + values.length * (4 + size));
  let at = HEAD_BYTES;
  let missing = 0;
  for (const value of values) {
    if (value === null) {
      missing += 1;
      putInt32(bytes, at, NO_VALUE);
      at += 4;
      continue;
    }
    putInt32(bytes, at, size);
    write(bytes, at + 4, value);
    at += 4 + size;
  }
  return finished(bytes, at, oid, values.length, missing);
}

/** With its head; null if every value is missing. */
function finished(bytes: Buffer, end: number, oid: number, count: number, missing: number): Buffer | null {
  if (missing === count && missing > 0) return null;
  putInt32(bytes, 0, 1); // dimensions
  putInt32(bytes, 4, missing > 0 ? 1 : 0);
  putInt32(bytes, 8, oid);
  putInt32(bytes, 12, count);
  putInt32(bytes, 16, 1); // the first index
  return bytes.subarray(0, end);
}

/** The server would refuse the text of any other number; the bytes of one would be another number. */
function asWhole(value: number, most: number): number {
  if (!Number.isInteger(value) || value > most || value < -most - 1)
    throw new Error(`${value} is no whole number that fits its column.`);
  return value;
}
