/** Once an hour: partitions of the days to come are made, and what is past its age is dropped (I62). */
import type { Instant } from '@signalbox/engine';
import type { PostgresStore } from '@signalbox/store';
import type { Tell } from './log.ts';

const EVERY_MS = 3_600_000;
const FIRST_MS = 60_000;
const DAY_MS = 86_400_000;
/** Long enough for an incident to be looked into. */
const JOURNAL_DAYS = 7;

type UpkeepStore = Pick<PostgresStore, 'dropExpired' | 'dropUnusedBundles'>;

export class Upkeep {
  readonly #store: UpkeepStore;
  readonly #retentionDays: number;
  readonly #tell: Tell;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(store: UpkeepStore, retentionDays: number, tell: Tell) {
    this.#store = store;
    this.#retentionDays = retentionDays;
    this.#tell = tell;
  }

  start(): void {
    this.#plan(FIRST_MS);
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async runOnce(): Promise<void> {
    const now = Date.now() as Instant;
    const daysAgo = (days: number) => (now - days * DAY_MS) as Instant;
    const dropped = await this.#store.dropExpired({
      now,
      olderThan: daysAgo(this.#retentionDays),
      journalOlderThan: daysAgo(Math.min(JOURNAL_DAYS, this.#retentionDays)),
    });
    const bundles = await this.#store.dropUnusedBundles();
    this.#tell('info', 'Upkeep is done.', { ...dropped, bundles: bundles.dropped });
  }

  #plan(delayMs: number): void {
    if (!this.#isStopped) this.#timer = setTimeout(() => void this.#round(), delayMs);
  }

  async #round(): Promise<void> {
    try {
      await this.runOnce();
    } catch (error) {
      this.#tell('warn', 'Upkeep did not come to its end; it is tried again in an hour.', { error: String(error) });
    }
    this.#plan(EVERY_MS);
  }
}
