/**
 * The end of what a process wrote to stderr, for the error of its attempt. It is masked before it is cut, because half a
 * secret would not be recognised.
 */
import type { Mask, MaskedStream } from '../logs/mask.ts';

const MAX_BYTES = 4 * 1024;
/** A trace of Node.js has twelve, with the error itself above its frames. */
const MAX_LINES = 20;

export class LastLines {
  readonly #masked: MaskedStream | null;
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(mask: Mask) {
    this.#masked = mask.stream((bytes) => this.#keep(bytes));
  }

  push(chunk: Buffer): void {
    if (this.#masked === null) this.#keep(chunk);
    else this.#masked.push(chunk);
  }

  lines(): readonly string[] {
    // What was held back as the beginning of a secret was none.
    this.#masked?.end();
    const text = Buffer.concat(this.#chunks).subarray(-MAX_BYTES).toString();
    return text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .slice(-MAX_LINES);
  }

  #keep(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    for (let first = this.#chunks[0]; first !== undefined; first = this.#chunks[0]) {
      if (this.#size - first.length < MAX_BYTES) return;
      this.#chunks.shift();
      this.#size -= first.length;
    }
  }
}
