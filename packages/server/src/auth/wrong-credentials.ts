/**
 * Wrong credentials. They are counted after the lookup, so a valid credential is never refused because of wrong ones from
 * the same address (I68). A caller with too many is told to wait. The first of them are recorded in the audit, with the
 * number in between (I71).
 */
import { SignalboxError } from '@signalbox/protocol';
import type { Refusal } from '@signalbox/store';
import { TokenBuckets } from './rate.ts';

export interface RefusalLog {
  recordRefusal(refusal: Refusal): Promise<void>;
}

/** From one address: 20 at once, 20 a minute. */
const FAILURES = { perSecond: 20 / 60, burst: 20 };
/** Look-ups under way for one address: who guesses must not keep the database busy. */
const LOOKUPS_FROM = 20;
/** Rows that one address adds to the audit, and all addresses together: a flood of guesses must not fill the disk (I73). */
const ROWS_FROM = { perSecond: 1 / 60, burst: 5 };
const ROWS_IN_ALL = { perSecond: 1, burst: 100 };
const KEPT = 10_000;

export class WrongCredentials {
  readonly #log: RefusalLog;
  readonly #action: string;
  readonly #failures = new TokenBuckets(FAILURES);
  readonly #lookups = new Map<string, number>();
  readonly #rowsFrom = new TokenBuckets(ROWS_FROM);
  readonly #rowsInAll = new TokenBuckets(ROWS_IN_ALL);
  readonly #unrecorded = new Map<string, number>();

  /** `action`: what the audit calls it. */
  constructor(log: RefusalLog, action: string) {
    this.#log = log;
    this.#action = action;
  }

  /** Looks something up for an address, a few at a time. */
  async lookUp<T>(from: string, look: () => Promise<T>): Promise<T> {
    const underWay = this.#lookups.get(from) ?? 0;
    if (underWay >= LOOKUPS_FROM) throw new SignalboxError('OVERLOADED', { retryAfterMs: 1_000 });
    this.#lookups.set(from, underWay + 1);
    try {
      return await look();
    } finally {
      const left = (this.#lookups.get(from) ?? 1) - 1;
      if (left === 0) this.#lookups.delete(from);
      else this.#lookups.set(from, left);
    }
  }

  /** Counts one that was looked up and is wrong. Throws RATE_LIMITED when there were too many. */
  count(from: string, credential: Buffer | null): void {
    const retryAfterMs = this.#failures.take(from);
    this.#record(from, credential, retryAfterMs > 0 ? 'RATE_LIMITED' : 'UNAUTHENTICATED');
    if (retryAfterMs > 0) throw new SignalboxError('RATE_LIMITED', { what: 'wrong credentials', retryAfterMs });
  }

  #record(origin: string, sha256: Buffer | null, outcome: string): void {
    const count = (this.#unrecorded.get(origin) ?? 0) + 1;
    this.#unrecorded.delete(origin);
    if (this.#rowsFrom.take(origin) > 0 || this.#rowsInAll.take('') > 0) {
      this.#unrecorded.set(origin, count);
      const [oldest] = this.#unrecorded.keys();
      if (this.#unrecorded.size > KEPT && oldest !== undefined) this.#unrecorded.delete(oldest);
      return;
    }
    // Nobody waits for it: a database that is away must not make a refusal slower. What is not written counts for the next.
    this.#log.recordRefusal({ sha256, action: this.#action, origin, outcome, count }).catch(() => {
      this.#unrecorded.set(origin, (this.#unrecorded.get(origin) ?? 0) + count);
    });
  }
}
