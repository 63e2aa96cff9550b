/**
 * Writes protobuf by hand, into one buffer that is used again for each message. The general writer of protobufjs makes an object
 * for each value and walks the list of them twice; for reports and assignments, of which there are thousands a second, that was
 * most of the work.
 */

/** The length of a nested message is written behind it, into so many bytes: a varint may have leading zeros. */
const LENGTH_BYTES = 4;
const LEAST_BYTES = 64 * 1024;
/** A buffer that one large message has made larger than this is given back. */
const KEPT_BYTES = 4 * 1024 * 1024;
/** Shorter texts are copied character by character, which costs less than a call of the runtime. */
const SHORT_CHARS = 100;

export class WireWriter {
  #bytes = Buffer.allocUnsafeSlow(LEAST_BYTES);
  #at = 0;

  /** A count. 0 is what a reader takes a field for that is not there. */
  count(tag: number, value: number): void {
    if (value === 0) return;
    this.#reserve(16);
    this.#varint(tag);
    this.#varint(value);
  }

  text(tag: number, value: string): void {
    if (value !== '') this.item(tag, value);
  }

  /** Also when it is empty: an item of a list. */
  item(tag: number, value: string): void {
    const { length } = value;
    this.#reserve(16 + 3 * length);
    this.#varint(tag);
    if (length < SHORT_CHARS && this.#shortText(value)) return;
    const from = this.#at + LENGTH_BYTES;
    const written = this.#bytes.write(value, from);
    this.#length(this.#at, written);
    this.#at = from + written;
  }

  bytes(tag: number, value: Buffer): void {
    this.#reserve(16 + value.length);
    this.#varint(tag);
    this.#varint(value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
  }

  /** Bytes that are whole fields. */
  raw(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
  }

  /** Everything up to `end` is inside this field. */
  begin(tag: number): number {
    this.#reserve(16);
    this.#varint(tag);
    const begun = this.#at;
    this.#at += LENGTH_BYTES;
    return begun;
  }

  end(begun: number): void {
    this.#length(begun, this.#at - begun - LENGTH_BYTES);
  }

  get at(): number {
    return this.#at;
  }

  /** What was written since then, as a copy. */
  since(from: number): Buffer {
    return Buffer.from(this.#bytes.subarray(from, this.#at));
  }

  /** The message. The writer is empty after it. */
  /** Drops what a message that could not be written has left. */
  reset(): void {
    this.#at = 0;
  }

  finish(): Buffer {
    const message = this.since(0);
    this.#at = 0;
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.allocUnsafeSlow(LEAST_BYTES);
    return message;
  }

  /** False for a text with other than ASCII characters. */
  #shortText(value: string): boolean {
    const { length } = value;
    const bytes = this.#bytes;
    const from = this.#at + 1;
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code > 127) return false;
      bytes[from + i] = code;
    }
    bytes[this.#at] = length;
    this.#at = from + length;
    return true;
  }

  #varint(value: number): void {
    const bytes = this.#bytes;
    let left = value;
    while (left >= 128) {
      bytes[this.#at++] = (left % 128) + 128;
      left = Math.floor(left / 128);
    }
    bytes[this.#at++] = left;
  }

  #length(at: number, length: number): void {
    const bytes = this.#bytes;
    bytes[at] = (length & 127) | 128;
    bytes[at + 1] = ((length >>> 7) & 127) | 128;
    bytes[at + 2] = ((length >>> 14) & 127) | 128;
    bytes[at + 3] = length >>> 21;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, this.#at + bytes));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}
