/**
 * Rate limits. A bucket holds a number of requests, refills evenly, and each request takes one. Only buckets that were used
 * lately are kept, and only a bounded number of them; a bucket that is forgotten is full again (I68, I73).
 */
import { systemClock } from '../ports/clock.ts';

export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

interface Bucket {
  left: number;
  at: number;
}

const KEPT = 10_000;

export class TokenBuckets {
  readonly #rate: Rate;
  readonly #now: () => number;
  readonly #kept: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(rate: Rate, now: () => number = () => systemClock.mono(), kept = KEPT) {
    this.#rate = rate;
    this.#now = now;
    this.#kept = kept;
  }

  /**
   * Takes one, or as many as something costs. Answers with the milliseconds until there is enough, 0 when it was taken. What costs
   * more than a full bucket holds may have it when it is full, and leaves a debt.
   */
  take(name: string, cost = 1): number {
    const bucket = this.#filled(name);
    const needed = Math.min(cost, this.#rate.burst);
    if (bucket.left < needed) return this.#waitMs(bucket, needed);
    bucket.left -= cost;
    return 0;
  }

  /** The milliseconds until there is one, without taking it. */
  waitFor(name: string): number {
    if (!this.#buckets.has(name)) return 0;
    const bucket = this.#filled(name);
    return bucket.left < 1 ? this.#waitMs(bucket) : 0;
  }

  get size(): number {
    return this.#buckets.size;
  }

  #waitMs({ left }: Bucket, needed = 1): number {
    return Math.ceil(((needed - left) / this.#rate.perSecond) * 1000);
  }

  #filled(name: string): Bucket {
    const now = this.#now();
    const known = this.#buckets.get(name);
    if (known !== undefined) {
      known.left = Math.min(this.#rate.burst, known.left + ((now - known.at) / 1000) * this.#rate.perSecond);
      known.at = now;
      return known;
    }
    const bucket = { left: this.#rate.burst, at: now };
    this.#buckets.set(name, bucket);
    if (this.#buckets.size > this.#kept) this.#forgetOldest();
    return bucket;
  }

  #forgetOldest(): void {
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}
