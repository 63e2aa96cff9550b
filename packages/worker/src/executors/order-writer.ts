/**
 * Orders to one child: those of one turn are one write. They are written one behind the other into one stretch of bytes, and go
 * to the pipe from there: a buffer for each, and another to join them, cost more than the write.
 */
import type { Writable } from 'node:stream';
import { frame, mostFrameBytes, writeFrame } from '../child/frames.ts';

const SLAB_BYTES = 64 * 1024;
/** Longer orders have bytes of their own. */
const MOST_CHARS = 4 * 1024;

export class OrderWriter {
  readonly #pipe: Writable;
  /** What the pipe may still read lies before `from`, and is never written to again. */
  #slab: Buffer = Buffer.alloc(0);
  #from = 0;
  #at = 0;
  #pieces: Buffer[] = [];
  #written: (() => void)[] = [];
  #isDue = false;
  #isClosed = false;

  constructor(pipe: Writable) {
    this.#pipe = pipe;
    pipe.on('error', () => {});
  }

  /** `written` is called when the child can read it. */
  send(kind: number, no: number, text: string, written?: () => void): void {
    if (this.#isClosed) return;
    if (written !== undefined) this.#written.push(written);
    this.#put(kind, no, text);
    if (this.#isDue) return;
    this.#isDue = true;
    process.nextTick(() => this.#flush());
  }

  close(): void {
    this.#isClosed = true;
  }

  #put(kind: number, no: number, text: string): void {
    if (text.length > MOST_CHARS) {
      this.#cut();
      this.#pieces.push(frame(kind, no, text));
      return;
    }
    if (this.#at + mostFrameBytes(text.length) > this.#slab.length) {
      this.#cut();
      this.#slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
      this.#from = 0;
      this.#at = 0;
    }
    this.#at = writeFrame(this.#slab, this.#at, kind, no, text);
  }

  #cut(): void {
    if (this.#at > this.#from) this.#pieces.push(this.#slab.subarray(this.#from, this.#at));
    this.#from = this.#at;
  }

  #flush(): void {
    this.#isDue = false;
    this.#cut();
    const pieces = this.#pieces;
    const written = this.#written;
    this.#pieces = [];
    this.#written = [];
    if (this.#isClosed) return;
    const bytes = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
    if (written.length === 0) {
      this.#pipe.write(bytes);
      return;
    }
    this.#pipe.write(bytes, (error) => {
      if (error === null || error === undefined) for (const call of written) call();
    });
  }
}
