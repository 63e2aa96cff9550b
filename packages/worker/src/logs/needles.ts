/**
 * Finds byte strings in a stream, also across chunks: the tail of a chunk that may be the beginning of a match is held back
 * until more arrives. Secrets are masked this way, and the end of an attempt is found in what a child prints.
 */
const NOTHING = Buffer.alloc(0);
/** A needle that overlaps itself could be held back without end. */
const MAX_HELD = 256 * 1024;

interface NeedleListener {
  onBytes(bytes: Buffer): void;
  onNeedle(): void;
}

export class Needles {
  /** Longest first: of two that begin at one place the longer one counts. */
  readonly #needles: readonly Buffer[];
  #held: Buffer = NOTHING;

  constructor(needles: readonly Buffer[]) {
    this.#needles = needles.filter(({ length }) => length > 0).sort((a, b) => b.length - a.length);
  }

  push(chunk: Buffer, listener: NeedleListener): void {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const ahead = this.#nowhere();
    let from = 0;
    let holdFrom = this.#holdFrom(bytes, 0);
    for (;;) {
      const match = this.#next(bytes, from, ahead);
      // One that begins behind what is held may be inside of a longer one that is not whole yet.
      if (match === null || match.start >= holdFrom) break;
      // What is held may go on to be one that overlaps this one: then they are one match.
      if (holdFrom < match.end && bytes.length - match.start < MAX_HELD) {
        holdFrom = match.start;
        break;
      }
      if (match.start > from) listener.onBytes(bytes.subarray(from, match.start));
      listener.onNeedle();
      from = match.end;
      if (from > holdFrom) holdFrom = this.#holdFrom(bytes, from);
    }
    if (holdFrom > from) listener.onBytes(bytes.subarray(from, holdFrom));
    this.#held = holdFrom === bytes.length ? NOTHING : Buffer.from(bytes.subarray(holdFrom));
  }

  /** The stream is at its end: what was held back is not the beginning of anything. */
  end(listener: NeedleListener): void {
    const bytes = this.#held;
    this.#held = NOTHING;
    const ahead = this.#nowhere();
    let from = 0;
    for (let match = this.#next(bytes, 0, ahead); match !== null; match = this.#next(bytes, from, ahead)) {
      if (match.start > from) listener.onBytes(bytes.subarray(from, match.start));
      listener.onNeedle();
      from = match.end;
    }
    if (from < bytes.length) listener.onBytes(bytes.subarray(from));
  }

  /** The first place from `from` on where the rest of the bytes is the beginning of a needle, and not all of one. */
  #holdFrom(bytes: Buffer, from: number): number {
    let first = bytes.length;
    for (const needle of this.#needles) {
      const earliest = Math.max(from, bytes.length - needle.length + 1);
      for (let at = earliest; at < first; at++) {
        if (bytes.compare(needle, 0, bytes.length - at, at, bytes.length) === 0) {
          first = at;
          break;
        }
      }
    }
    return first;
  }

  /** Where each needle is found next; looked for when that is behind. */
  #nowhere(): number[] {
    return this.#needles.map(() => -1);
  }

  /**
   * Needles that overlap are one match: no part of any of them is let through. Each needle is looked for once behind each
   * of its own places, and around a match only as far as it can reach: a flood of secrets must not cost more than any other.
   */
  #next(bytes: Buffer, from: number, ahead: number[]): { readonly start: number; readonly end: number } | null {
    let start = Number.POSITIVE_INFINITY;
    let end = -1;
    for (const [i, needle] of this.#needles.entries()) {
      if (ahead[i]! < from) {
        const at = bytes.indexOf(needle, from);
        ahead[i] = at === -1 ? Number.POSITIVE_INFINITY : at;
      }
      if (ahead[i]! < start) {
        start = ahead[i]!;
        end = start + needle.length;
      }
    }
    if (end === -1) return null;
    for (let grew = true; grew; ) {
      grew = false;
      for (const needle of this.#needles) {
        const low = Math.max(start, end - needle.length + 1);
        const at = bytes.subarray(low, end - 1 + needle.length).lastIndexOf(needle);
        if (at === -1) continue;
        const reaches = low + at + needle.length;
        if (reaches > end) {
          end = reaches;
          grew = true;
        }
      }
    }
    return { start, end };
  }
}
