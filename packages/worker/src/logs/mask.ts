/** Replaces the values of secrets with *** (I67), also in their JSON form, and line by line if a value has several lines. */
import { Needles } from './needles.ts';

const MASK = '***';
const MASK_BYTES = Buffer.from(MASK);
/** A line of a secret of many lines: shorter ones would mask words that are no secret. */
const MIN_LINE_CHARS = 8;
/** Tokens of the servers are as long as this; a shorter one would mask words. */
const MIN_TOKEN_BYTES = 16;

export class Mask {
  readonly #texts: readonly string[];
  readonly #needles: readonly Buffer[];

  constructor(values: Iterable<string>) {
    const texts = new Set<string>();
    for (const value of values) {
      if (value === '') continue;
      texts.add(value);
      texts.add(JSON.stringify(value).slice(1, -1));
      if (!value.includes('\n')) continue;
      for (const line of value.split(/\r?\n/)) if (line.length >= MIN_LINE_CHARS) texts.add(line);
    }
    this.#texts = [...texts].sort((a, b) => b.length - a.length);
    this.#needles = this.#texts.map((text) => Buffer.from(text));
  }

  get isEmpty(): boolean {
    return this.#texts.length === 0;
  }

  /** Before anything is cut off: the beginning of a secret is not known for what it is. */
  text(text: string): string {
    if (!this.#texts.some((value) => text.includes(value))) return text;
    const parts: Buffer[] = [];
    // As in a stream: of two that overlap no part is shown.
    const stream = this.stream((bytes) => parts.push(bytes));
    stream?.push(Buffer.from(text));
    stream?.end();
    return Buffer.concat(parts).toString();
  }

  /** For one stream of bytes; null when there is nothing to mask. */
  stream(onBytes: (bytes: Buffer) => void): MaskedStream | null {
    if (this.isEmpty) return null;
    const needles = new Needles(this.#needles);
    const listener = { onBytes, onNeedle: () => onBytes(MASK_BYTES) };
    return { push: (chunk) => needles.push(chunk, listener), end: () => needles.end(listener) };
  }
}

export interface MaskedStream {
  push(chunk: Buffer): void;
  end(): void;
}

export const NO_MASK = new Mask([]);

/** A token as user code is given it, and as it is likely to be printed otherwise. */
export function tokenTexts(token: Buffer): string[] {
  const encodings = ['base64url', 'base64', 'hex'] as const;
  return token.length < MIN_TOKEN_BYTES ? [] : encodings.map((encoding) => token.toString(encoding));
}
