/**
 * What one child prints, attempt after attempt. When an attempt that has printed ends, the child writes an end mark on both
 * streams, so each line goes to the attempt that wrote it. If it has printed nothing, there is nothing to wait for.
 *
 * What comes is looked at when the turn of the event loop is over: by then the words of the child have been read that it wrote
 * before, among them which attempt has ended.
 */
import type { Readable } from 'node:stream';
import type { AttemptLines } from '../logs/lazy-log.ts';
import { Needles } from '../logs/needles.ts';
import { Capture, type Relief } from './capture.ts';

const TAIL_BYTES = 4 * 1024;

class Stream {
  readonly capture: Capture;
  readonly #needles: Needles;
  readonly #name: 'stdout' | 'stderr';
  readonly #onMark: () => void;
  #arrived: Buffer[] = [];
  marksSeen = 0;
  /** The last output, to explain why the child died. */
  tail: Buffer = Buffer.alloc(0);
  /** Resolves when nothing more can come, and all of it has been looked at. */
  readonly closed: Promise<void>;

  constructor(name: 'stdout' | 'stderr', source: Readable, mark: Buffer, relief: Relief, onMark: () => void) {
    this.#name = name;
    this.#onMark = onMark;
    this.#needles = new Needles([mark]);
    this.capture = new Capture(source, relief, (bytes) => {
      if (this.#arrived.push(bytes) === 1) setImmediate(() => this.#look());
    });
    this.closed = this.capture.closed.then(() => {
      this.#look();
      this.#needles.end(this);
    });
  }

  #look(): void {
    for (const bytes of this.#arrived.splice(0)) this.#needles.push(bytes, this);
  }

  onBytes(bytes: Buffer): void {
    if (this.#name === 'stderr') {
      this.tail = Buffer.concat([this.tail, bytes.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
    }
    this.capture.log?.bytes(this.#name, bytes);
  }

  onNeedle(): void {
    this.capture.log?.endStream(this.#name);
    this.marksSeen++;
    this.#onMark();
  }
}

export class Printed {
  readonly #streams: readonly [Stream, Stream];
  #marksDue = 0;
  /** Those who wait until both streams have shown so many marks, in order. */
  readonly #waiting: { readonly marks: number; readonly onWhole: () => void }[] = [];
  /** Both streams have closed. */
  readonly closed: Promise<void>;

  constructor(stdout: Readable, stderr: Readable, mark: Buffer, relief: Relief) {
    const onMark = (): void => this.#look();
    this.#streams = [
      new Stream('stdout', stdout, mark, relief, onMark),
      new Stream('stderr', stderr, mark, relief, onMark),
    ];
    this.closed = Promise.all(this.#streams.map(({ closed }) => closed)).then(() => {});
  }

  /** From now on what comes belongs to this log, or to none. */
  begin(log: AttemptLines | null): void {
    for (const stream of this.#streams) {
      stream.capture.begin(log);
      if (log !== null && stream.tail.length > 0) stream.tail = Buffer.alloc(0);
    }
  }

  get errorTail(): string {
    return this.#streams[1].tail.toString();
  }

  /** Calls back when all that was printed before has come; at once when nothing was. */
  end(hasPrinted: boolean, onWhole: () => void): void {
    if (hasPrinted) {
      this.#marksDue++;
      for (const { capture } of this.#streams) capture.hurry();
    }
    this.#waiting.push({ marks: this.#marksDue, onWhole });
    this.#look();
  }

  /** The child has gone: whatever is still in the pipes comes now or, kept open by others, never. */
  async drain(atMostMs: number): Promise<void> {
    for (const { capture } of this.#streams) capture.hurry();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, atMostMs);
    });
    await Promise.race([this.closed, late]);
    clearTimeout(timer);
    for (const { capture } of this.#streams) capture.destroy();
  }

  #look(): void {
    const seen = Math.min(...this.#streams.map(({ marksSeen }) => marksSeen));
    for (let first = this.#waiting[0]; first !== undefined && first.marks <= seen; first = this.#waiting[0]) {
      this.#waiting.shift();
      first.onWhole();
    }
  }
}
