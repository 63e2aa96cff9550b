/** Turns bytes into lines of text that can be stored: none too long, and all of them valid UTF-8. */
import { MAX_LOG_LINE_BYTES } from '@signalbox/protocol/grpc';

const NEW_LINE = 10;
const RETURN = 13;
const NOTHING = Buffer.alloc(0);

export class LineSplitter {
  /** False: no more lines, please. */
  readonly #onLine: (text: string) => boolean;
  #rest: Buffer = NOTHING;

  constructor(onLine: (text: string) => boolean) {
    this.#onLine = onLine;
  }

  /** Returns what was not made lines of, because no more are wanted. */
  push(chunk: Buffer): Buffer {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let from = 0;
    this.#rest = NOTHING;
    for (let at = bytes.indexOf(NEW_LINE); at !== -1; at = bytes.indexOf(NEW_LINE, from)) {
      const end = at > from && bytes[at - 1] === RETURN ? at - 1 : at;
      const goesOn = this.#line(bytes.subarray(from, end));
      from = at + 1;
      if (!goesOn) return bytes.subarray(from);
    }
    bytes = bytes.subarray(from);
    // A line without an end goes out in pieces, so that never more than one piece is kept.
    while (bytes.length > MAX_LOG_LINE_BYTES) {
      const cut = cutOf(bytes);
      const goesOn = this.#line(bytes.subarray(0, cut));
      bytes = bytes.subarray(cut);
      if (!goesOn) return bytes;
    }
    this.#rest = bytes.length === 0 ? NOTHING : Buffer.from(bytes);
    return NOTHING;
  }

  /** The beginning of a line whose end has not come. */
  takeRest(): Buffer {
    const rest = this.#rest;
    this.#rest = NOTHING;
    return rest;
  }

  /** The last line need not have a line break. */
  end(): void {
    const rest = this.takeRest();
    if (rest.length > 0) this.#line(rest);
  }

  #line(bytes: Buffer): boolean {
    let goesOn = true;
    for (let rest = bytes; ; ) {
      const cut = rest.length > MAX_LOG_LINE_BYTES ? cutOf(rest) : rest.length;
      for (const text of storableLines(rest.toString('utf8', 0, cut))) goesOn = this.#onLine(text) && goesOn;
      if (cut === rest.length) return goesOn;
      rest = rest.subarray(cut);
    }
  }
}

/** At most the longest line, and not within a character. */
function cutOf(bytes: Buffer): number {
  for (let cut = MAX_LOG_LINE_BYTES; cut > MAX_LOG_LINE_BYTES - 4; cut--) {
    if (((bytes[cut] ?? 0) & 0xc0) !== 0x80) return cut;
  }
  return MAX_LOG_LINE_BYTES;
}

/** Zero characters are no text to PostgreSQL. What was no UTF-8 has grown by being replaced, and is cut again. */
export function storableLines(line: string): readonly string[] {
  const text = line.includes('\0') ? line.replaceAll('\0', '\u{fffd}') : line;
  if (text.length * 3 <= MAX_LOG_LINE_BYTES || Buffer.byteLength(text) <= MAX_LOG_LINE_BYTES) return [text];
  const bytes = Buffer.from(text);
  const lines: string[] = [];
  for (let from = 0; from < bytes.length; ) {
    const rest = bytes.subarray(from);
    const cut = rest.length > MAX_LOG_LINE_BYTES ? cutOf(rest) : rest.length;
    lines.push(rest.toString('utf8', 0, cut));
    from += cut;
  }
  return lines;
}
