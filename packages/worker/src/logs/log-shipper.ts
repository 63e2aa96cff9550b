/**
 * Sends the lines of all attempts to the node, in order for each attempt, and keeps them until they are stored. Lines that
 * were lost with a stream are sent again on the next one. The buffer is bounded; lines that do not fit are dropped, and the
 * log of the attempt says so.
 */
import {
  type Claim,
  type LogBatch,
  type LogLine,
  type LogPiece,
  type LogStream,
  MAX_LOG_BATCH_LINES,
} from '@signalbox/protocol/grpc';
import type { Log } from '@signalbox/sdk';
import type { DataAccess, DataPlace } from '../data-address.ts';
import { LINE_COST, type LogSink } from './attempt-log.ts';
import { LogLink } from './log-link.ts';

const KIB = 1024;
/** Bytes of the lines of all attempts in memory, stored or not. */
const TOTAL_BYTES = 16 * 1024 * KIB;
/** Bytes of the lines of one attempt, so a flood leaves room for others. */
const ATTEMPT_BYTES = 4 * 1024 * KIB;
/** From here on a source should wait. */
const BEHIND_TOTAL_BYTES = 8 * 1024 * KIB;
const BEHIND_ATTEMPT_BYTES = 512 * KIB;
/** On its way at one time. */
const WINDOW_BYTES = 2 * 1024 * KIB;
const BATCH_BYTES = 256 * KIB;
/** Bytes of the lines of one attempt in one batch, while others wait. */
const SHARE_BYTES = 64 * KIB;
/** While something is on its way, less than a full batch waits so long for more. */
const GATHER_MS = 20;
/** A batch that was refused so often is not sent again. */
const MAX_REFUSALS = 3;

/** What is kept of one attempt. */
class Outgoing implements LogSink {
  readonly claim: Claim;
  readonly token: Buffer;
  readonly #shipper: LogShipper;
  lines: LogLine[] = [];
  pendingBytes = 0;
  /** The number of the first line in `lines`. */
  firstLine = 0;
  nextLine = 0;
  storedLines = 0;
  isQueued = false;

  constructor(shipper: LogShipper, claim: Claim, token: Buffer) {
    this.#shipper = shipper;
    this.claim = claim;
    this.token = token;
  }

  take(line: { readonly at: number; readonly stream: LogStream; readonly text: string }): boolean {
    return this.#shipper.take(this, line);
  }

  get isBehind(): boolean {
    return this.#shipper.isBehind(this);
  }
}

export type { Outgoing };

interface Sent {
  readonly pieces: readonly (LogPiece & { readonly from: Outgoing })[];
  readonly bytes: number;
  no: number;
  refusals: number;
}

export class LogShipper {
  readonly #link: LogLink;
  readonly #log: Log;
  #queue: Outgoing[] = [];
  #sent: Sent[] = [];
  #again: Sent[] = [];
  #sentBytes = 0;
  #totalBytes = 0;
  #no = 0;
  #isScheduled = false;
  #gather: NodeJS.Timeout | null = null;
  #hasWarned = false;
  /** A wait for lines to be stored was in vain: there are none until something is stored. */
  #isSlow = false;
  #waiting: { readonly outgoing: Outgoing; readonly resolve: () => void }[] = [];
  #relieved: (() => void)[] = [];

  constructor(access: DataAccess, log: Log) {
    this.#log = log;
    this.#link = new LogLink(access, {
      onUp: () => this.#schedule(),
      onStored: (no) => this.#stored(no),
      onDown: (isRefusal) => this.#down(isRefusal),
    });
  }

  /** What the shipper keeps for now, for tests and for people. */
  get bufferedBytes(): number {
    return this.#totalBytes;
  }

  open(claim: Claim, token: Buffer): Outgoing {
    return new Outgoing(this, claim, token);
  }

  move(place: DataPlace): void {
    this.#link.move(place);
    if (place === 'none' && this.#totalBytes > 0) this.#dropAll();
  }

  take(outgoing: Outgoing, line: LogLine): boolean {
    if (this.#link.place === 'none') {
      this.#warnOnce();
      return true;
    }
    const cost = costOf(line);
    if (outgoing.pendingBytes + cost > ATTEMPT_BYTES || this.#totalBytes + cost > TOTAL_BYTES) return false;
    outgoing.lines.push(line);
    outgoing.nextLine++;
    outgoing.pendingBytes += cost;
    this.#totalBytes += cost;
    if (!outgoing.isQueued) {
      outgoing.isQueued = true;
      this.#queue.push(outgoing);
    }
    this.#link.want();
    this.#schedule();
    return true;
  }

  isBehind(outgoing: Outgoing): boolean {
    return outgoing.pendingBytes > BEHIND_ATTEMPT_BYTES || this.#totalBytes > BEHIND_TOTAL_BYTES;
  }

  /** Called once, the next time that something is stored or given up. */
  whenRelieved(call: () => void): void {
    this.#relieved.push(call);
  }

  /** Resolves when all lines so far are stored, or when waiting for it is in vain. */
  async flush(outgoing: Outgoing, atMostMs: number): Promise<void> {
    if (outgoing.storedLines >= outgoing.nextLine || this.#isSlow || !this.#link.isUp) return;
    this.#sendNow();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        this.#isSlow = true;
        this.#waiting = this.#waiting.filter((one) => one.resolve !== done);
        resolve();
      }, atMostMs);
      const done = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.#waiting.push({ outgoing, resolve: done });
    });
  }

  /** What can be stored in this time is. */
  async close(atMostMs: number): Promise<void> {
    const until = performance.now() + atMostMs;
    while (this.#totalBytes > 0 && this.#link.isUp) {
      const left = until - performance.now();
      if (left <= 0) break;
      this.#sendNow();
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.whenRelieved(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    this.destroy();
  }

  destroy(): void {
    if (this.#gather !== null) clearTimeout(this.#gather);
    this.#link.close();
    this.#dropAll();
  }

  // ---- sending

  #schedule(): void {
    if (this.#isScheduled || !this.#link.isUp) return;
    if (this.#sentBytes === 0 || this.#totalBytes - this.#sentBytes >= BATCH_BYTES) {
      this.#isScheduled = true;
      setImmediate(() => {
        this.#isScheduled = false;
        this.#send();
      });
      return;
    }
    this.#gather ??= setTimeout(() => this.#sendNow(), GATHER_MS);
  }

  #sendNow(): void {
    if (this.#gather !== null) clearTimeout(this.#gather);
    this.#gather = null;
    this.#send();
  }

  #send(): void {
    while (this.#link.isUp && this.#sentBytes < WINDOW_BYTES) {
      const next = this.#again.shift() ?? this.#nextBatch();
      if (next === null) return;
      next.no = ++this.#no;
      this.#sent.push(next);
      this.#sentBytes += next.bytes;
      this.#link.write({ no: next.no, pieces: next.pieces } satisfies LogBatch);
    }
  }

  /** In turns: each attempt gets its share of a batch. */
  #nextBatch(): Sent | null {
    const pieces: Sent['pieces'][number][] = [];
    let bytes = 0;
    let lineCount = 0;
    while (bytes < BATCH_BYTES && lineCount < MAX_LOG_BATCH_LINES) {
      const from = this.#queue.shift();
      if (from === undefined) break;
      const share = this.#queue.length === 0 ? BATCH_BYTES - bytes : SHARE_BYTES;
      let taken = 0;
      let takenBytes = 0;
      while (taken < from.lines.length && takenBytes < share && lineCount + taken < MAX_LOG_BATCH_LINES) {
        takenBytes += costOf(from.lines[taken] as LogLine);
        taken++;
      }
      const lines = from.lines.slice(0, taken);
      from.lines = taken === from.lines.length ? [] : from.lines.slice(taken);
      pieces.push({ from, claim: from.claim, token: from.token, firstLine: from.firstLine, lines });
      from.firstLine += taken;
      from.pendingBytes -= takenBytes;
      bytes += takenBytes;
      lineCount += taken;
      from.isQueued = from.lines.length > 0;
      if (from.isQueued) this.#queue.push(from);
    }
    return pieces.length === 0 ? null : { pieces, bytes, no: 0, refusals: 0 };
  }

  // ---- what became of it

  #stored(no: number): void {
    this.#isSlow = false;
    for (let first = this.#sent[0]; first !== undefined && first.no <= no; first = this.#sent[0]) {
      this.#sent.shift();
      this.#sentBytes -= first.bytes;
      this.#settle(first);
    }
    this.#wake();
    this.#schedule();
  }

  /** A line that is given up counts as stored: nobody waits for it any more. */
  #settle(sent: Sent): void {
    this.#totalBytes -= sent.bytes;
    for (const { from, firstLine, lines } of sent.pieces) {
      from.storedLines = Math.max(from.storedLines, firstLine + lines.length);
    }
  }

  #down(isRefusal: boolean): void {
    this.#again = [...this.#sent, ...this.#again];
    this.#sent = [];
    this.#sentBytes = 0;
    const [first] = this.#again;
    if (isRefusal && first !== undefined && ++first.refusals >= MAX_REFUSALS) {
      this.#again.shift();
      this.#settle(first);
      this.#log.warn('lines of a log were refused by the server and are lost', {
        lines: first.pieces.reduce((sum, { lines }) => sum + lines.length, 0),
      });
    }
    // Whoever waits for lines to be stored would wait for the next stream.
    for (const { resolve } of this.#waiting.splice(0)) resolve();
    this.#wake();
  }

  #wake(): void {
    const isStored = ({ outgoing }: { readonly outgoing: Outgoing }) => outgoing.storedLines >= outgoing.nextLine;
    const stored = this.#waiting.filter(isStored);
    if (stored.length > 0) {
      this.#waiting = this.#waiting.filter((one) => !isStored(one));
      for (const { resolve } of stored) resolve();
    }
    for (const call of this.#relieved.splice(0)) call();
  }

  #dropAll(): void {
    if (this.#totalBytes > 0) this.#warnOnce();
    for (const outgoing of this.#queue) {
      outgoing.lines = [];
      outgoing.pendingBytes = 0;
      outgoing.isQueued = false;
      outgoing.storedLines = outgoing.nextLine;
    }
    this.#queue = [];
    for (const sent of [...this.#sent, ...this.#again]) this.#settle(sent);
    this.#sent = [];
    this.#again = [];
    this.#sentBytes = 0;
    this.#totalBytes = 0;
    for (const { resolve } of this.#waiting.splice(0)) resolve();
    this.#wake();
  }

  #warnOnce(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#log.warn('the server takes no logs; those of attempts are lost', {});
  }
}

function costOf({ text }: LogLine): number {
  // Measured by its length: exact to a factor of three, and free.
  return text.length + LINE_COST;
}
