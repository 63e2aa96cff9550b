/** Reads protobuf by hand: fields go straight into the objects of the domain, without an object of the wire between. */
import { refuse } from '../check.ts';
import { BYTES, FIXED_32, FIXED_64, VARINT } from './tags.ts';

const MAX_UINT32 = 2 ** 32 - 1;

export function refuseBytes(): never {
  return refuse('message', 'is not a message of signalbox.worker.v1');
}

export class WireReader {
  readonly bytes: Buffer;
  at: number;
  end: number;
  #lastFrom = 0;
  #lastLength = -1;

  constructor(bytes: Buffer, from = 0, to = bytes.length) {
    this.bytes = bytes;
    this.at = from;
    this.end = to;
  }

  /** Field and type of what comes next, as field × 8 + type; 0 at the end. */
  tag(): number {
    return this.at < this.end ? this.#varint() : 0;
  }

  /** A whole number of 64 bits that a number can hold exactly. */
  count(path: string): number {
    const value = this.#varint();
    return Number.isSafeInteger(value) ? value : refuse(path, 'is not a whole number');
  }

  /** A whole number of 32 bits. */
  uint32(path: string): number {
    const value = this.#varint();
    return value <= MAX_UINT32 ? value : refuse(path, 'is not a whole number');
  }

  text(path: string, longest: number): string {
    const to = this.#lengthEnd();
    const value = this.bytes.toString('utf8', this.at, to);
    this.at = to;
    return value.length <= longest ? value : refuse(path, `is longer than ${longest} characters`);
  }

  filledText(path: string, longest: number): string {
    const value = this.text(path, longest);
    return value === '' ? refuse(path, 'is empty') : value;
  }

  /** Shares the memory of the message. */
  slice(path: string, longest: number): Buffer {
    const to = this.#lengthEnd();
    if (to - this.at > longest) refuse(path, `is longer than ${longest} bytes`);
    const value = this.bytes.subarray(this.at, to);
    this.at = to;
    return value;
  }

  /** Whether the stretch that was asked about before, in this message, has the same bytes. */
  isAgain(from: number, to: number): boolean {
    const [before, length] = [this.#lastFrom, this.#lastLength];
    this.#lastFrom = from;
    this.#lastLength = to - from;
    return length === to - from && this.bytes.compare(this.bytes, from, to, before, before + length) === 0;
  }

  /** Into a nested message; `leave` with what it returns. */
  enter(): number {
    const outer = this.end;
    this.end = this.#lengthEnd();
    return outer;
  }

  leave(outer: number): void {
    this.at = this.end;
    this.end = outer;
  }

  /** A field that this version does not know, or has no use for. */
  skip(tag: number): void {
    switch (tag % 8) {
      case VARINT:
        this.#varint();
        return;
      case BYTES:
        this.at = this.#lengthEnd();
        return;
      case FIXED_64:
        return this.#pass(8);
      case FIXED_32:
        return this.#pass(4);
      default:
        refuseBytes();
    }
  }

  #pass(count: number): void {
    this.at += count;
    if (this.at > this.end) refuseBytes();
  }

  #lengthEnd(): number {
    const length = this.#varint();
    const to = this.at + length;
    return to <= this.end ? to : refuseBytes();
  }

  #varint(): number {
    const { bytes, end } = this;
    let at = this.at;
    let value = 0;
    for (let scale = 1; at < end; scale *= 128) {
      const byte = bytes[at++] as number;
      value += (byte & 127) * scale;
      if (byte < 128) {
        this.at = at;
        return value;
      }
      // Ten bytes hold 64 bits; more are no number.
      if (at - this.at >= 10) break;
    }
    return refuseBytes();
  }
}

/** Reads one nested message after the other. */
export type ReadItem<T> = (reader: WireReader) => T;

/**
 * The bytes of all fields but those with a hot tag, and where each item of those is: tag, begin and end, one after the other in a
 * flat list. A part of a message may be written anywhere in it.
 */
export function splitMessage(bytes: Buffer, hot: ReadonlySet<number>): { rest: Buffer; spans: readonly number[] } {
  const reader = new WireReader(bytes);
  const spans: number[] = [];
  const others: Buffer[] = [];
  let restFrom = 0;
  for (let from = 0, tag = reader.tag(); tag !== 0; from = reader.at, tag = reader.tag()) {
    if (!hot.has(tag)) {
      reader.skip(tag);
      continue;
    }
    if (from > restFrom) others.push(bytes.subarray(restFrom, from));
    const outer = reader.enter();
    spans.push(tag, reader.at, reader.end);
    reader.leave(outer);
    restFrom = reader.at;
  }
  if (spans.length === 0) return { rest: bytes, spans };
  if (restFrom < bytes.length) others.push(bytes.subarray(restFrom));
  return { rest: others.length === 1 ? (others[0] as Buffer) : Buffer.concat(others), spans };
}

/** The items with one tag, in their order. */
export function readSpans<T>(
  bytes: Buffer,
  { spans, tag, most, path }: { spans: readonly number[]; tag: number; most: number; path: string },
  read: ReadItem<T>,
): T[] {
  const items: T[] = [];
  const reader = new WireReader(bytes);
  for (let i = 0; i < spans.length; i += 3) {
    if (spans[i] !== tag) continue;
    if (items.length === most) refuse(path, `has more than ${most} items`);
    reader.at = spans[i + 1] as number;
    reader.end = spans[i + 2] as number;
    items.push(read(reader));
  }
  return items;
}
