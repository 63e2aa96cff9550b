/** A scheduler for tests: time stands still until the next thing is due, and chance comes from a seed. */
import type { SimScheduler } from './scheduler.ts';

interface Due {
  readonly at: number;
  readonly no: number;
  readonly what: string;
  readonly run: () => void;
}

export class VirtualScheduler implements SimScheduler {
  readonly trace: string[] = [];
  #now = 0;
  #count = 0;
  #due: Due[] = [];
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, what: string, run: () => void): void {
    this.#due.push({ at: this.#now + Math.max(0, ms), no: this.#count++, what, run });
  }

  random(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    return mix(this.#state) / 2 ** 32;
  }

  /** Runs what is due first; false when nothing is. */
  runNext(): boolean {
    if (this.#due.length === 0) return false;
    this.#due.sort((a, b) => a.at - b.at || a.no - b.no);
    const next = this.#due.shift();
    if (next === undefined) return false;
    this.#now = next.at;
    this.trace.push(`${next.at.toFixed(6)} ${next.what}`);
    next.run();
    return true;
  }

  /** Runs everything until the promise has settled, letting promises go on between two events. */
  async settle<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const mark = () => {
      settled = true;
    };
    promise.then(mark, mark);
    for (;;) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (settled) return promise;
      if (!this.runNext()) throw new Error('nothing is due any more, and the promise has not settled');
    }
  }
}

/** Mixes a counter into 32 bits that look drawn (mulberry32). */
function mix(state: number): number {
  let t = Math.imul(state ^ (state >>> 15), state | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return (t ^ (t >>> 14)) >>> 0;
}
