/**
 * Starts the programs of attempts. On Linux a starter process does it, which begins with the first program and is begun again when
 * it has ended. Elsewhere the worker does it itself: `spawn` of Node.js does not fork on macOS, and what a starter leaves behind when
 * it is killed can't be found without /proc. It also does where a starter can't be had, which costs time and nothing else.
 */
import { existsSync } from 'node:fs';
import type { Log } from '@signalbox/sdk';
import type { ProgramOrder } from '../../starter/words.ts';
import type { ChildHome } from '../child-home.ts';
import { type Program, startHere } from './program.ts';
import { NotStarted, Starter } from './starter.ts';

/** Until another starter is tried when one could not be had. */
const RETRY_MS = 60_000;

export class Programs {
  readonly #home: ChildHome;
  readonly #log: Log;
  readonly #starters = new Set<Starter>();
  #shared: Promise<Starter> | null = null;
  readonly #usesStarter = process.platform === 'linux' && existsSync('/proc/self/environ');
  #failedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(home: ChildHome, log: Log) {
    this.#home = home;
    this.#log = log;
  }

  /** Rejects with the error of `spawn`, or with `StarterLost`. `isAlone`: no other program has the same starter. */
  async start(order: ProgramOrder, isAlone: boolean): Promise<Program> {
    const starter = await this.#starter(isAlone);
    if (starter === null) return startHere(order, this.#home.cpu);
    try {
      return await starter.start(order);
    } catch (error) {
      if (!(error instanceof NotStarted)) throw error;
      return startHere(order, this.#home.cpu);
    } finally {
      if (isAlone) void starter.close();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#starters].map((starter) => starter.close()));
  }

  async #starter(isAlone: boolean): Promise<Starter | null> {
    if (!this.#usesStarter || this.#isClosed || performance.now() - this.#failedAt < RETRY_MS) return null;
    try {
      if (isAlone) return await this.#open(true);
      this.#shared ??= this.#open(false);
      return await this.#shared;
    } catch (error) {
      if (!isAlone) this.#shared = null;
      if (performance.now() - this.#failedAt >= RETRY_MS) {
        this.#failedAt = performance.now();
        this.#log.warn('There is no process that starts programs; the worker starts them itself.', {
          error: String(error),
        });
      }
      return null;
    }
  }

  async #open(isPrivate: boolean): Promise<Starter> {
    let starter: Starter | null = null;
    const onEnded = (): void => {
      if (starter !== null) this.#starters.delete(starter);
      if (!isPrivate) this.#shared = null;
    };
    starter = await Starter.open(this.#home, { isPrivate, onEnded });
    this.#starters.add(starter);
    if (this.#isClosed) void starter.close();
    return starter;
  }
}
