/** How a function in a child process sends requests: as messages to the worker, each with a number that the answer carries. */

import type { AttemptRequester } from '@signalbox/sdk/attempt-requests';
import { AttemptStopped, PermanentError } from '@signalbox/sdk/handler';
import { type ChildAnswer, type ChildRequest, PROGRESS, REQUEST } from './frames.ts';

/** Progress is for people and for the watch over stuck attempts: the worker need not hear of each of a million steps. */
const PROGRESS_EACH_MS = 200;

interface Waiter {
  readonly resolve: (leftMs: number) => void;
  readonly reject: (error: Error) => void;
}

export class ChildRequester implements AttemptRequester {
  readonly #tell: (kind: number, text: string) => void;
  readonly #waiting = new Map<number, Waiter>();
  #lastNo = 0;
  #toldAt = Number.NEGATIVE_INFINITY;
  #latest: string | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isOver = false;

  constructor(tell: (kind: number, text: string) => void) {
    this.#tell = tell;
  }

  progress(fraction: number | null, note: string): void {
    if (this.#isOver) return;
    this.#latest = JSON.stringify({ fraction, note });
    const waitMs = this.#toldAt + PROGRESS_EACH_MS - performance.now();
    if (waitMs <= 0) this.#tellProgress();
    else this.#timer ??= setTimeout(() => this.#tellProgress(), waitMs).unref();
  }

  extend(ms: number): Promise<number> {
    return this.#ask({ kind: 'extend', ms });
  }

  async saveCheckpoint(value: string): Promise<void> {
    await this.#ask({ kind: 'checkpoint', value });
  }

  async assertOwned(): Promise<void> {
    await this.#ask({ kind: 'assert' });
  }

  async addTasks(tasks: string): Promise<void> {
    await this.#ask({ kind: 'add', tasks });
  }

  answered({ no, ok, leftMs, error }: ChildAnswer): void {
    const waiter = this.#waiting.get(no);
    this.#waiting.delete(no);
    if (ok) waiter?.resolve(leftMs);
    else waiter?.reject(errorOf(error));
  }

  /** The attempt has ended: what comes of it now belongs to nobody. */
  end(): void {
    this.#isOver = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const { reject } of this.#waiting.values()) reject(new AttemptStopped('stale', 'The attempt is over.'));
    this.#waiting.clear();
  }

  #tellProgress(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#isOver || this.#latest === null) return;
    this.#toldAt = performance.now();
    this.#tell(PROGRESS, this.#latest);
    this.#latest = null;
  }

  #ask(request: ChildRequest['request']): Promise<number> {
    return new Promise<number>((resolve, reject) => {
      if (this.#isOver) return reject(new AttemptStopped('stale', 'The attempt is over.'));
      this.#lastNo += 1;
      this.#waiting.set(this.#lastNo, { resolve, reject });
      this.#tell(REQUEST, JSON.stringify({ no: this.#lastNo, request } satisfies ChildRequest));
    });
  }
}

function errorOf(error: ChildAnswer['error']): Error {
  if (error.reason !== null) return new AttemptStopped(error.reason, error.message);
  return error.isPermanent ? new PermanentError(error.message) : new Error(error.message);
}
