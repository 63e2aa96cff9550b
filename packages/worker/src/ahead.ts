/**
 * How many more claims than slots the worker asks for, so that the next attempts are there when others end. As many as its
 * child processes get done in a moment: with attempts of seconds that is none, so no attempt waits here that another worker
 * could begin.
 */
import { MAX_AHEAD } from '@signalbox/protocol';

/**
 * A claim that comes ahead of its slot waits for about this long, or for half of what it may wait. The more claims are under way,
 * the more of them share a commit: with 100 ms, at most 1,000 claims, and a busy machine, a task cost half as much again.
 */
const AHEAD_MS = 200;
/** How much of the old rate stays with each look. */
const KEPT = 0.5;

export class Ahead {
  #perMs = 0;
  #lookedAt: number | null = null;
  #seen = 0;
  readonly #least: number;
  /** What the gateway was told last. */
  told = 0;
  /** The most that the gateway was told on this stream: so many may be on their way. */
  most = 0;

  constructor(least = 0) {
    this.#least = least;
    this.most = least;
  }

  /** What to tell the gateway; null if what it knows is near enough. `mostWaitMs`: after so long a claim goes back. */
  look(now: number, endedCount: number, mostWaitMs = Number.POSITIVE_INFINITY): number | null {
    if (this.#lookedAt === null) this.#seen = endedCount;
    else if (now > this.#lookedAt) {
      const rate = (endedCount - this.#seen) / (now - this.#lookedAt);
      this.#perMs = KEPT * this.#perMs + (1 - KEPT) * rate;
      this.#seen = endedCount;
    }
    this.#lookedAt = now;
    const aheadMs = Math.min(AHEAD_MS, mostWaitMs / 2);
    const count = Math.min(MAX_AHEAD, Math.max(this.#least, Math.floor(this.#perMs * aheadMs)));
    const isNear = count === 0 ? this.told === 0 : Math.abs(count - this.told) <= this.told / 4;
    return isNear ? null : this.tell(count);
  }

  /** What was ahead has waited for too long: no more of it. */
  stop(): number | null {
    this.#perMs = 0;
    return this.told === 0 ? null : this.tell(0);
  }

  /** A new gateway knows nothing. */
  reset(): void {
    this.told = 0;
    this.most = this.#least;
  }

  tell(count: number): number {
    this.told = count;
    this.most = Math.max(this.most, count);
    return count;
  }
}
