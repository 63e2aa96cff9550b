/** Orders to one child: those of one turn are one write. */
import type { Writable } from 'node:stream';

export class OrderWriter {
  readonly #pipe: Writable;
  #frames: Buffer[] = [];
  #written: (() => void)[] = [];
  #isClosed = false;

  constructor(pipe: Writable) {
    this.#pipe = pipe;
    pipe.on('error', () => {});
  }

  /** `written` is called when the child can read it. */
  send(bytes: Buffer, written?: () => void): void {
    if (this.#isClosed) return;
    if (written !== undefined) this.#written.push(written);
    if (this.#frames.push(bytes) === 1) process.nextTick(() => this.#flush());
  }

  close(): void {
    this.#isClosed = true;
  }

  #flush(): void {
    const frames = this.#frames;
    const written = this.#written;
    this.#frames = [];
    if (this.#isClosed) return;
    const bytes = frames.length === 1 ? (frames[0] as Buffer) : Buffer.concat(frames);
    if (written.length === 0) {
      this.#pipe.write(bytes);
      return;
    }
    this.#written = [];
    this.#pipe.write(bytes, (error) => {
      if (error === null || error === undefined) for (const call of written) call();
    });
  }
}
