/**
 * How many windows a step decides while many are due. A commit costs about as much as 50 windows beside its rows, so larger ones make a
 * burst shorter; others wait for the commits in flight, so each must be short. How long one takes depends on the machine and on what
 * else it does, so the size follows from the commits before.
 */

/** Others then start within 100 ms: they wait for two commits and for their own. */
const SHORT_MS = 25;
const LONG_MS = 45;
const LEAST = 125;
const MOST = 500;
const FIRST = 250;
const UP = 1.15;
const DOWN = 0.8;

export class WindowPace {
  #most = FIRST;

  get windowsPerStep(): number {
    return Math.round(this.#most);
  }

  /** Of a commit with so many windows: from its decision until it was done, so behind the one before it. */
  note({ windows, tookMs }: { readonly windows: number; readonly tookMs: number }): void {
    // A small one says nothing about large ones.
    if (windows < this.#most / 2) return;
    if (tookMs < SHORT_MS) this.#most = Math.min(MOST, this.#most * UP);
    else if (tookMs > LONG_MS) this.#most = Math.max(LEAST, this.#most * DOWN);
  }
}
