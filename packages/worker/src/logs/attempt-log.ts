/**
 * The log of one attempt. `keeping`: each line goes to the shipper. `tail`: beyond the limit only the last part is kept, as
 * raw bytes, and sent at the end. So a flood costs one pointer per chunk, whatever its lines look like.
 */
import { counted } from '@signalbox/protocol';
import type { LogStream } from '@signalbox/protocol/grpc';
import { LineSplitter, storableLines } from './line-splitter.ts';
import { type Mask, type MaskedStream, NO_MASK } from './mask.ts';

interface LogLimits {
  /** Kept from the beginning; each line counts `LINE_COST` bytes more than its text has. */
  readonly keptBytes: number;
  /** Kept of the end, where there was more. */
  readonly tailBytes: number;
}
const LOG_LIMITS: LogLimits = { keptBytes: 8 * 1024 * 1024, tailBytes: 64 * 1024 };
/** What a line costs beside its text, here, on the wire and where it is stored. */
export const LINE_COST = 32;

/** Where the lines of one attempt go; the shipper's side. */
export interface LogSink {
  /** False: there is no room for it, and it is lost. */
  take(line: { readonly at: number; readonly stream: LogStream; readonly text: string }): boolean;
  readonly isBehind: boolean;
}

interface TailPiece {
  readonly at: number;
  readonly stream: LogStream;
  readonly bytes: Buffer;
}

interface Raw {
  readonly splitter: LineSplitter;
  readonly masked: MaskedStream | null;
}

export class AttemptLog {
  readonly #sink: LogSink;
  readonly #limits: LogLimits;
  readonly #wallNow: () => number;
  #mask: Mask = NO_MASK;
  readonly #raw = new Map<LogStream, Raw>();
  #keptBytes = 0;
  #isTail = false;
  #tail: TailPiece[] = [];
  #tailBytes = 0;
  #leftOutBytes = 0;
  #lostLines = 0;
  #isEnded = false;

  constructor(sink: LogSink, wallNow: () => number, limits: LogLimits = LOG_LIMITS) {
    this.#sink = sink;
    this.#wallNow = wallNow;
    this.#limits = limits;
  }

  /** Before the first line: secrets that are found later would have been let through. */
  set mask(mask: Mask) {
    this.#mask = mask;
  }

  get isBehind(): boolean {
    return !this.#isTail && this.#sink.isBehind;
  }

  /** One line, or several with line breaks between, of the worker's or the context's own. */
  line(stream: LogStream, text: string): void {
    if (this.#isEnded) return;
    const at = this.#wallNow();
    for (const part of this.#mask.text(text).split('\n')) {
      for (const line of storableLines(part)) this.#keep(at, stream, line);
    }
  }

  /** What a process wrote, as it comes. */
  bytes(stream: 'stdout' | 'stderr', chunk: Buffer): void {
    if (this.#isEnded) return;
    const raw = this.#rawOf(stream);
    if (raw.masked === null) this.#take(stream, raw.splitter, chunk);
    else raw.masked.push(chunk);
  }

  /** A process is through with a stream: its last line is a line even without a break. */
  endStream(stream: 'stdout' | 'stderr'): void {
    const raw = this.#raw.get(stream);
    if (raw === undefined) return;
    raw.masked?.end();
    raw.splitter.end();
  }

  /** Nothing comes after it. */
  end(): void {
    if (this.#isEnded) return;
    this.endStream('stdout');
    this.endStream('stderr');
    this.#isEnded = true;
    if (this.#isTail) this.#sendTail();
    this.#sayLost();
  }

  #rawOf(stream: 'stdout' | 'stderr'): Raw {
    const known = this.#raw.get(stream);
    if (known !== undefined) return known;
    const splitter = new LineSplitter((text) => {
      this.#keep(this.#wallNow(), stream, text);
      return !this.#isTail;
    });
    const raw = { splitter, masked: this.#mask.stream((bytes) => this.#take(stream, splitter, bytes)) };
    this.#raw.set(stream, raw);
    return raw;
  }

  #take(stream: LogStream, splitter: LineSplitter, bytes: Buffer): void {
    const at = this.#wallNow();
    let rest = bytes;
    if (!this.#isTail) rest = splitter.push(bytes);
    if (!this.#isTail) return;
    // The beginning of a line that the splitter still has comes before what follows it.
    this.#keepTail({ at, stream, bytes: splitter.takeRest() });
    this.#keepTail({ at, stream, bytes: rest });
  }

  #keep(at: number, stream: LogStream, text: string): void {
    if (this.#isTail) {
      this.#keepTail({ at, stream, bytes: Buffer.from(`${text}\n`) });
      return;
    }
    this.#keptBytes += Buffer.byteLength(text) + LINE_COST;
    if (this.#keptBytes <= this.#limits.keptBytes) {
      this.#send(at, stream, text);
      return;
    }
    this.#isTail = true;
    this.#send(
      at,
      'system',
      `The log is longer than ${shownBytes(this.#limits.keptBytes)}: of what follows only the last ${shownBytes(this.#limits.tailBytes)} are kept.`,
    );
    this.#keep(at, stream, text);
  }

  #keepTail(piece: TailPiece): void {
    if (piece.bytes.length === 0) return;
    this.#tail.push(piece);
    this.#tailBytes += piece.bytes.length;
    for (let first = this.#tail[0]; first !== undefined; first = this.#tail[0]) {
      if (this.#tailBytes - first.bytes.length < this.#limits.tailBytes) return;
      this.#tail.shift();
      this.#tailBytes -= first.bytes.length;
      this.#leftOutBytes += first.bytes.length;
    }
  }

  #sendTail(): void {
    const tail = this.#cutTail();
    if (this.#leftOutBytes > 0) {
      this.#send(this.#wallNow(), 'system', `${shownBytes(this.#leftOutBytes)} of the log were left out here.`);
    }
    const splitters = new Map<LogStream, LineSplitter>();
    let at = 0;
    for (const piece of tail) {
      at = piece.at;
      let splitter = splitters.get(piece.stream);
      if (splitter === undefined) {
        splitter = new LineSplitter((text) => {
          this.#send(at, piece.stream, text);
          return true;
        });
        splitters.set(piece.stream, splitter);
      }
      splitter.push(piece.bytes);
    }
    for (const splitter of splitters.values()) splitter.end();
  }

  /** Exactly the last bytes, from the beginning of a line on. */
  #cutTail(): readonly TailPiece[] {
    const tail = this.#tail;
    this.#tail = [];
    const [first, ...others] = tail;
    if (first === undefined || this.#leftOutBytes === 0) return tail;
    const over = Math.max(0, this.#tailBytes - this.#limits.tailBytes);
    const lineEnd = first.bytes.indexOf(10, over);
    const cut = lineEnd === -1 ? over : lineEnd + 1;
    this.#leftOutBytes += cut;
    return [{ ...first, bytes: first.bytes.subarray(cut) }, ...others];
  }

  #send(at: number, stream: LogStream, text: string): void {
    if (this.#lostLines > 0 && !this.#sayLost()) {
      this.#lostLines++;
      return;
    }
    if (!this.#sink.take({ at, stream, text })) this.#lostLines++;
  }

  #sayLost(): boolean {
    if (this.#lostLines === 0) return true;
    const text = `${counted(this.#lostLines, 'line was', 'lines were')} left out here: ${this.#lostLines === 1 ? 'it' : 'they'} could not be sent in time.`;
    if (!this.#sink.take({ at: this.#wallNow(), stream: 'system', text })) return false;
    this.#lostLines = 0;
    return true;
  }
}

function shownBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(0)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
