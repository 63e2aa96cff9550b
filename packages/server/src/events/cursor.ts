/**
 * The position of a reader in the event stream: all commits up to a cut, and the first changes of one commit after it. It is
 * valid on every server. As text: a version, the numbers of the cut, and the part, packed and in base64url.
 */
import { SHARD_COUNT, type ShardNo } from '@signalbox/engine';
import type { Cut } from '@signalbox/store';

export interface Position {
  readonly cut: Cut;
  /** How many changes were read of the next commit that this shard leads. */
  readonly part: { readonly lead: ShardNo; readonly changes: number } | null;
}

const VERSION = 1;

export function encodeCursor({ cut, part }: Position): string {
  const bytes: number[] = [VERSION];
  for (let shard = 0; shard < SHARD_COUNT; shard++) pushNumber(bytes, cut[shard] ?? 0);
  if (part !== null) {
    pushNumber(bytes, part.lead);
    pushNumber(bytes, part.changes);
  }
  return Buffer.from(bytes).toString('base64url');
}

/** Null for what no server has given out. */
export function decodeCursor(text: string): Position | null {
  const bytes = Buffer.from(text, 'base64url');
  const numbers = bytes[0] === VERSION ? readNumbers(bytes.subarray(1)) : null;
  if (numbers === null) return null;
  const cut = numbers.slice(0, SHARD_COUNT);
  const [lead, changes, ...more] = numbers.slice(SHARD_COUNT);
  if (cut.length < SHARD_COUNT || more.length > 0) return null;
  if (lead === undefined) return { cut, part: null };
  return changes === undefined || lead >= SHARD_COUNT ? null : { cut, part: { lead: lead as ShardNo, changes } };
}

/** Seven bits a byte, the lowest first; by division, for a number may have more than 32. */
function pushNumber(bytes: number[], value: number): void {
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
}

function readNumbers(bytes: Buffer): number[] | null {
  const numbers: number[] = [];
  let [value, scale] = [0, 1];
  for (const byte of bytes) {
    value += (byte % 128) * scale;
    scale *= 128;
    if (!Number.isSafeInteger(value)) return null;
    if (byte >= 128) continue;
    numbers.push(value);
    [value, scale] = [0, 1];
  }
  return scale === 1 ? numbers : null;
}
