/**
 * Brings what a child prints into the log of the attempt that it runs. While the log is behind, the pipe stays full, so the
 * child waits. After a while it continues even if lines are lost: a slow log never stops an attempt.
 */
import type { Readable } from 'node:stream';
import type { AttemptLines } from '../logs/lazy-log.ts';

const STALL_MS = 1_000;

export interface Relief {
  whenRelieved(call: () => void): void;
}

export class Capture {
  readonly #source: Readable;
  readonly #relief: Relief;
  readonly #onBytes: (bytes: Buffer) => void;
  /** The log of the attempt that the child runs. What it prints between attempts belongs to none. */
  log: AttemptLines | null = null;
  #isPaused = false;
  /** It has waited once, in vain. It waits again when the log has caught up. */
  #isPatient = true;
  #isHurried = false;
  /** Resolves when nothing more can come. */
  readonly closed: Promise<void>;

  constructor(source: Readable, relief: Relief, onBytes: (bytes: Buffer) => void) {
    this.#source = source;
    this.#relief = relief;
    this.#onBytes = onBytes;
    this.closed = source.closed ? Promise.resolve() : new Promise((resolve) => source.once('close', () => resolve()));
    source.on('error', () => {});
    source.on('data', (bytes: Buffer) => {
      this.#onBytes(bytes);
      this.#waitWhileBehind();
    });
  }

  /** An attempt begins, or none does. */
  begin(log: AttemptLines | null): void {
    this.log = log;
    this.#isHurried = false;
  }

  /** Everything that is still in the pipe is taken, as fast as it comes. */
  hurry(): void {
    this.#isHurried = true;
    this.#resume();
  }

  destroy(): void {
    this.#source.destroy();
  }

  #waitWhileBehind(): void {
    if (this.log === null || this.#isHurried) return;
    if (!this.log.isBehind) {
      this.#isPatient = true;
      return;
    }
    if (this.#isPaused || !this.#isPatient) return;
    this.#isPaused = true;
    this.#source.pause();
    const timer = setTimeout(() => {
      this.#isPatient = false;
      this.#resume();
    }, STALL_MS);
    const look = (): void => {
      if (!this.#isPaused) return clearTimeout(timer);
      if (this.log?.isBehind) return this.#relief.whenRelieved(look);
      clearTimeout(timer);
      this.#resume();
    };
    this.#relief.whenRelieved(look);
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#source.resume();
  }
}
