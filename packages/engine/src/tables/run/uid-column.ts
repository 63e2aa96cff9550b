/** Uids as four integers each: a million strings of 36 characters would take 60 MB, and work for the garbage collector. */
import type { RunRow, RunUid } from '../../model/ids.ts';

const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Where the hex digits of a uid stand, by the integer they belong to. */
const PLACES = [
  [0, 1, 2, 3, 4, 5, 6, 7],
  [9, 10, 11, 12, 14, 15, 16, 17],
  [19, 20, 21, 22, 24, 25, 26, 27],
  [28, 29, 30, 31, 32, 33, 34, 35],
] as const;

export function writeUid(column: Uint32Array, run: RunRow, uid: RunUid): void {
  for (let part = 0; part < 4; part++) {
    const places = PLACES[part]!;
    let value = 0;
    for (let i = 0; i < 8; i++) value = (value << 4) | digitAt(uid, places[i]!);
    column[run * 4 + part] = value;
  }
}

export function readUid(column: Uint32Array, run: RunRow): RunUid {
  const at = run * 4;
  const [b, c] = [column[at + 1]!, column[at + 2]!];
  const middle = `${high(b)}-${low(b)}-${high(c)}-${low(c)}`;
  return `${hex8(column[at]!)}-${middle}${hex8(column[at + 3]!)}` as RunUid;
}

function digitAt(text: string, place: number): number {
  const code = text.charCodeAt(place);
  return code < 58 ? code - 48 : (code | 32) - 87;
}

function hex8(value: number): string {
  return high(value) + low(value);
}

function high(value: number): string {
  return BYTES[value >>> 24]! + BYTES[(value >>> 16) & 255]!;
}

function low(value: number): string {
  return BYTES[(value >>> 8) & 255]! + BYTES[value & 255]!;
}
