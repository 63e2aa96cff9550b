/**
 * What one child prints, attempt after attempt. When an attempt that has printed ends, the child writes an end mark on both
 * streams, so each line goes to the attempt that wrote it. If it has printed nothing, there is nothing to wait for.
 */
import type { Readable } from 'node:stream';
import type { AttemptLog } from '../logs/attempt-log.ts';
import { Needles } from '../logs/needles.ts';
import { Capture, type Relief } from './capture.ts';

const TAIL_BYTES = 4 * 1024;

class Stream {
  readonly capture: Capture;
  readonly #needles: Needles;
  readonly #name: 'stdout' | 'stderr';
  readonly #onMark: () => void;
  marksSeen = 0;
  /** The last output, to explain why the child died. */
  tail: Buffer = Buffer.alloc(0);

  constructor(name: 'stdout' | 'stderr', source: Readable, mark: Buffer, relief: Relief, onMark: () => void) {
    this.#name = name;
    this.#onMark = onMark;
    this.#needles = new Needles([mark]);
    this.capture = new Capture(source, relief, (bytes) => this.#needles.push(bytes, this));
    void this.capture.closed.then(() => this.#needles.end(this));
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
  #onWhole: (() => void) | null = null;
  /** Both streams have closed. */
  readonly closed: Promise<void>;

  constructor(stdout: Readable, stderr: Readable, mark: Buffer, relief: Relief) {
    const onMark = (): void => this.#look();
    this.#streams = [
      new Stream('stdout', stdout, mark, relief, onMark),
      new Stream('stderr', stderr, mark, relief, onMark),
    ];
    this.closed = Promise.all(this.#streams.map(({ capture }) => capture.closed)).then(() => {});
  }

  begin(log: AttemptLog): void {
    for (const stream of this.#streams) {
      stream.capture.begin(log);
      if (stream.tail.length > 0) stream.tail = Buffer.alloc(0);
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
    this.#onWhole = onWhole;
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
    if (this.#onWhole === null || this.#streams.some(({ marksSeen }) => marksSeen < this.#marksDue)) return;
    const call = this.#onWhole;
    this.#onWhole = null;
    for (const { capture } of this.#streams) capture.begin(null);
    call();
  }
}
