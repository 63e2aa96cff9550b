/**
 * When the next message with reports goes. A single report goes at once. A worker that ends thousands of attempts a second would
 * send a message for every few of them, and a message costs both sides as much as several reports. So it waits for a moment,
 * while it has other attempts to run: nothing stands still meanwhile.
 */

/** From this many reports within a window on. */
const MANY = 20;
const WINDOW_MS = 10;
/** How long after a message the next one goes. */
const APART_MS = 2;

export class OutboxPace {
  #windowFrom = Number.NEGATIVE_INFINITY;
  #count = 0;
  #countBefore = 0;
  #sentAt = Number.NEGATIVE_INFINITY;

  reported(now: number): void {
    this.#turnTo(now);
    this.#count++;
  }

  sent(now: number): void {
    this.#sentAt = now;
  }

  /** How long to wait; 0 for not at all. */
  waitMs(now: number): number {
    this.#turnTo(now);
    return this.#count + this.#countBefore < MANY ? 0 : Math.max(0, APART_MS - (now - this.#sentAt));
  }

  #turnTo(now: number): void {
    const passedMs = now - this.#windowFrom;
    if (passedMs < WINDOW_MS) return;
    this.#countBefore = passedMs < 2 * WINDOW_MS ? this.#count : 0;
    this.#count = 0;
    this.#windowFrom = now;
  }
}
