/** Once an hour: partitions of the days to come are made, and what is past its age is dropped (I62). */
import type { Instant } from '@signalbox/engine';
import type { Retention, RetentionRun } from '@signalbox/protocol';
import type { PostgresStore } from '@signalbox/store';
import type { Tell } from './log.ts';

const EVERY_MS = 3_600_000;
const FIRST_MS = 60_000;
const DAY_MS = 86_400_000;
/** Long enough for an incident to be looked into. */
const JOURNAL_DAYS = 7;
const STEPS_ON_DEMAND = 50;

type UpkeepStore = Pick<PostgresStore, 'dropExpired' | 'dropUnusedBundles' | 'dropOldRequests'>;

export class Upkeep {
  readonly #store: UpkeepStore;
  readonly retention: Retention;
  readonly #tell: Tell;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(store: UpkeepStore, retentionDays: number, tell: Tell) {
    this.#store = store;
    this.retention = { runDays: retentionDays, journalDays: Math.min(JOURNAL_DAYS, retentionDays) };
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
    const dropped = await this.#drop();
    const bundles = await this.#store.dropUnusedBundles();
    await this.#store.dropOldRequests();
    this.#tell('info', 'Upkeep is done.', { ...dropped, bundles: bundles.dropped });
  }

  /** What is past its age, in few enough steps for somebody to wait for. */
  dropExpired(): Promise<RetentionRun> {
    return this.#drop({ maxSteps: STEPS_ON_DEMAND });
  }

  #drop(limit: { maxSteps?: number } = {}): Promise<RetentionRun> {
    const now = Date.now() as Instant;
    const daysAgo = (days: number) => (now - days * DAY_MS) as Instant;
    const { runDays, journalDays } = this.retention;
    return this.#store.dropExpired({
      now,
      olderThan: daysAgo(runDays),
      journalOlderThan: daysAgo(journalDays),
      ...limit,
    });
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
