/**
 * The encoding of a journal row: integers take as many bytes as they need, run ids and instants are the difference from the
 * previous one, and each text is written once per row.
 */
import type { Instant, RunId } from '@signalbox/engine';
import { decodeText, encodeText } from './text.ts';
import { writeUuid } from './uuid-bytes.ts';

const HYPHENS = new Set([4, 6, 8, 10]);

export class ByteWriter {
  #bytes = Buffer.allocUnsafe(4096);
  #length = 0;
  #texts = new Map<string, number>();
  #lastRun = 0;
  #lastInstant = 0;

  /** A whole number from 0 to 2^53. */
  uint(value: number): void {
    this.#reserve(8);
    let rest = value;
    // Beyond 31 bits the operators on bits would cut the number.
    while (rest >= 0x80000000) {
      this.#bytes[this.#length++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    while (rest >= 128) {
      this.#bytes[this.#length++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    this.#bytes[this.#length++] = rest;
  }

  /** The first byte has the sign and six bits: twice a run id of 2054 would no longer be exact. */
  int(value: number): void {
    const size = Math.abs(value);
    const rest = Math.floor(size / 64);
    this.#reserve(1);
    this.#bytes[this.#length++] = (size % 64) + (value < 0 ? 64 : 0) + (rest > 0 ? 128 : 0);
    if (rest > 0) this.uint(rest);
  }

  flag(value: boolean): void {
    this.uint(value ? 1 : 0);
  }

  nullable<T>(value: T | null, write: (value: T) => void): void {
    this.flag(value !== null);
    if (value !== null) write(value);
  }

  run(id: RunId): void {
    this.int(id - this.#lastRun);
    this.#lastRun = id;
  }

  instant(at: Instant): void {
    this.int(at - this.#lastInstant);
    this.#lastInstant = at;
  }

  text(value: string): void {
    const known = this.#texts.get(value);
    if (known !== undefined) return this.uint(known);
    this.#texts.set(value, this.#texts.size + 1);
    this.uint(0);
    const encoded = encodeText(value);
    const byteLength = Buffer.byteLength(encoded);
    this.uint(byteLength);
    this.#reserve(byteLength);
    this.#length += this.#bytes.write(encoded, this.#length);
  }

  uuid(value: string): void {
    this.#reserve(16);
    writeUuid(this.#bytes, this.#length, value);
    this.#length += 16;
  }

  done(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + count));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

export class ByteReader {
  readonly #bytes: Buffer;
  #position = 0;
  #texts: string[] = [];
  #lastRun = 0;
  #lastInstant = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  uint(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.#byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  }

  int(): number {
    const first = this.#byte();
    const size = (first & 63) + (first >= 128 ? this.uint() * 64 : 0);
    return (first & 64) === 0 ? size : -size;
  }

  flag(): boolean {
    const value = this.uint();
    if (value > 1) throw new Error('A journal row has a flag that is neither 0 nor 1.');
    return value === 1;
  }

  nullable<T>(read: () => T): T | null {
    return this.flag() ? read() : null;
  }

  run(): RunId {
    this.#lastRun += this.int();
    if (!(this.#lastRun >= 0 && Number.isSafeInteger(this.#lastRun)))
      throw new Error('A journal row has a run id out of range.');
    return this.#lastRun as RunId;
  }

  instant(): Instant {
    this.#lastInstant += this.int();
    // The last instant that a Date can show.
    if (!(Math.abs(this.#lastInstant) <= 8_640_000_000_000_000))
      throw new Error('A journal row has an instant out of range.');
    return this.#lastInstant as Instant;
  }

  text(): string {
    const known = this.uint();
    if (known > 0) {
      const text = this.#texts[known - 1];
      if (text === undefined) throw new Error('A journal row refers to a text that it does not hold.');
      return text;
    }
    const byteLength = this.uint();
    if (byteLength > this.#bytes.length - this.#position)
      throw new Error('A journal row ends in the middle of a text.');
    const text = decodeText(this.#bytes.toString('utf8', this.#position, this.#position + byteLength));
    this.#position += byteLength;
    this.#texts.push(text);
    return text;
  }

  uuid(): string {
    let text = '';
    for (let i = 0; i < 16; i++) {
      if (HYPHENS.has(i)) text += '-';
      text += this.#byte().toString(16).padStart(2, '0');
    }
    return text;
  }

  get atEnd(): boolean {
    return this.#position >= this.#bytes.length;
  }

  #byte(): number {
    const byte = this.#bytes[this.#position++];
    if (byte === undefined) throw new Error('A journal row ends in the middle of a change.');
    return byte;
  }
}
