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
  return columnOf(OID.bigint, 8, values, (bytes, at, value) => {
    const whole = asWhole(value, Number.MAX_SAFE_INTEGER);
    bytes.writeInt32BE(Math.floor(whole / TWO_TO_32), at);
    bytes.writeUInt32BE(whole >>> 0, at + 4);
  });
}

/** `integer[]` */
export function integers(values: Numbers): Buffer | null {
  return columnOf(OID.integer, 4, values, (bytes, at, value) => {
    bytes.writeInt32BE(asWhole(value, 0x7fff_ffff), at);
  });
}

/** `smallint[]` */
export function smallints(values: Numbers): Buffer | null {
  return columnOf(OID.smallint, 2, values, (bytes, at, value) => {
    bytes.writeInt16BE(asWhole(value, 0x7fff), at);
  });
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
      bytes.writeInt32BE(NO_VALUE, at);
      at += 4;
      continue;
    }
    bytes.writeInt32BE(size, at);
    write(bytes, at + 4, value);
    at += 4 + size;
  }
  if (missing === values.length && missing > 0) return null;
  bytes.writeInt32BE(1, 0); // dimensions
  bytes.writeInt32BE(missing > 0 ? 1 : 0, 4);
  bytes.writeInt32BE(oid, 8);
  bytes.writeInt32BE(values.length, 12);
  bytes.writeInt32BE(1, 16); // the first index
  return bytes.subarray(0, at);
}

/** The server would refuse the text of any other number; the bytes of one would be another number. */
function asWhole(value: number, most: number): number {
  if (!Number.isInteger(value) || value > most || value < -most - 1)
    throw new Error(`${value} is no whole number that fits its column.`);
  return value;
}
