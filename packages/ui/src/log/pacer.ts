/**
 * When to send what is new to a page: a few times a second, one message at a time, and no sooner than the page has rested for as long
 * as it took to show the last one. So however slow the machine is, the page has half of its time for the person who uses it.
 */
interface PacerOptions {
  /** Sends some of what waits. True when nothing is left. */
  readonly send: () => boolean;
  readonly leastMs?: number;
  readonly now?: () => number;
  readonly later?: (run: () => void, ms: number) => void;
}

const LEAST_MS = 120;

export class Pacer {
  readonly #send: () => boolean;
  readonly #leastMs: number;
  readonly #now: () => number;
  readonly #later: (run: () => void, ms: number) => void;
  /** `resting`: nothing to send; `waiting`: a timer runs; `sent`: the page has not shown it yet. */
  #state: 'resting' | 'waiting' | 'sent' = 'resting';
  #hasMore = false;
  #sentAt = 0;

  constructor({
    send,
    leastMs = LEAST_MS,
    now = () => performance.now(),
    later = (run, ms) => void setTimeout(run, ms),
  }: PacerOptions) {
    this.#send = send;
    this.#leastMs = leastMs;
    this.#now = now;
    this.#later = later;
  }

  /** There is something to send. */
  ask(): void {
    this.#hasMore = true;
    if (this.#state === 'resting') this.#wait(this.#leastMs);
  }

  /** The page shows what was sent last. */
  shown(): void {
    if (this.#state !== 'sent') return;
    this.#state = 'resting';
    if (!this.#hasMore) return;
    const tookMs = this.#now() - this.#sentAt;
    this.#wait(Math.max(this.#leastMs - tookMs, tookMs));
  }

  #wait(ms: number): void {
    this.#state = 'waiting';
    this.#later(() => {
      this.#state = 'sent';
      this.#sentAt = this.#now();
      this.#hasMore = false;
      if (!this.#send()) this.#hasMore = true;
    }, ms);
  }
}
