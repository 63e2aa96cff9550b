/**
 * How often someone may. A bucket holds some, fills up again evenly, and each use takes one. Only those that were used lately
 * are remembered, and of these a bounded number: one that is forgotten is full again (I68, I73).
 */
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

  constructor(rate: Rate, now: () => number = () => performance.now(), kept = KEPT) {
    this.#rate = rate;
    this.#now = now;
    this.#kept = kept;
  }

  /** Takes one. Answers with the milliseconds until there is one, 0 when it was taken. */
  take(name: string): number {
    const bucket = this.#filled(name);
    if (bucket.left < 1) return this.#waitMs(bucket);
    bucket.left -= 1;
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

  #waitMs({ left }: Bucket): number {
    return Math.ceil(((1 - left) / this.#rate.perSecond) * 1000);
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
