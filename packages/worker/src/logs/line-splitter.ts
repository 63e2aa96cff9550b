/** From bytes as they come to lines of text that can be stored: none too long, none with bytes that are no UTF-8. */
import { MAX_LOG_LINE_BYTES } from '@signalbox/protocol/grpc';

const NEW_LINE = 10;
const RETURN = 13;
const NOTHING = Buffer.alloc(0);

export class LineSplitter {
  readonly #onLine: (text: string) => void;
  #rest: Buffer = NOTHING;

  constructor(onLine: (text: string) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let from = 0;
    for (let at = bytes.indexOf(NEW_LINE); at !== -1; at = bytes.indexOf(NEW_LINE, from)) {
      this.#line(bytes.subarray(from, at > from && bytes[at - 1] === RETURN ? at - 1 : at));
      from = at + 1;
    }
    bytes = bytes.subarray(from);
    // A line without an end goes out in pieces, so that never more than one piece is kept.
    while (bytes.length > MAX_LOG_LINE_BYTES) {
      const cut = cutOf(bytes);
      this.#line(bytes.subarray(0, cut));
      bytes = bytes.subarray(cut);
    }
    this.#rest = bytes.length === 0 ? NOTHING : Buffer.from(bytes);
  }

  /** The last line need not have a line break. */
  end(): void {
    const rest = this.#rest;
    this.#rest = NOTHING;
    if (rest.length > 0) this.#line(rest);
  }

  #line(bytes: Buffer): void {
    for (let rest = bytes; ; ) {
      const cut = rest.length > MAX_LOG_LINE_BYTES ? cutOf(rest) : rest.length;
      for (const text of storableLines(rest.toString('utf8', 0, cut))) this.#onLine(text);
      if (cut === rest.length) return;
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
export function* storableLines(line: string): Generator<string> {
  const text = line.includes('\0') ? line.replaceAll('\0', '\u{fffd}') : line;
  if (text.length * 3 <= MAX_LOG_LINE_BYTES || Buffer.byteLength(text) <= MAX_LOG_LINE_BYTES) {
    yield text;
    return;
  }
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; ) {
    const rest = bytes.subarray(from);
    const cut = rest.length > MAX_LOG_LINE_BYTES ? cutOf(rest) : rest.length;
    yield rest.toString('utf8', 0, cut);
    from += cut;
  }
}
