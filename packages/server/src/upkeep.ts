/** Runs hourly: creates the partitions of the next days and removes what is past its age (I62). */
import type { Actor, CloseDeadLetters, Instant, RetireDag } from '@signalbox/engine';
import type { Retention, RetentionRun } from '@signalbox/protocol';
import type { PostgresStore } from '@signalbox/store';
import type { Tell } from './log.ts';
import { systemClock } from './ports/clock.ts';

const SYSTEM = 'system' as Actor;
const EVERY_MS = 3_600_000;
const FIRST_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Sums of ended runs are small and outlive the runs: a year, and the month to compare it with. */
const ROLLUP_DAYS = 400;
/** Long enough for an incident to be looked into. */
const JOURNAL_DAYS = 7;
const STEPS_ON_DEMAND = 50;

/** Open dead letters expire after their days, or when their dag has more than it may; looked at each minute. */
const LETTERS_EVERY_MS = 60_000;
const MOST_LETTERS_OF_DAG = 10_000;
const LETTERS_AT_ONCE = 500;
const CLOSE_WITHIN_MS = 10_000;

type UpkeepStore = Pick<
  PostgresStore,
  | 'dropExpired'
  | 'dropUnusedBundles'
  | 'dropOldRequests'
  | 'dropUnusedRunIds'
  | 'dropUnusedJobs'
  | 'findUnusedShapes'
  | 'dropRetiredShapes'
  | 'dropOldCallbacks'
  | 'dropOldRollups'
  | 'dropOldUsage'
  | 'dropOldDecisions'
  | 'dropOldWorkerEvents'
  | 'expiringDeadLetters'
  | 'dropClosedDeadLetters'
>;

interface DeadLetterUpkeep {
  readonly days: number;
  /** To the owner of its shard; null while there is none to ask. */
  readonly ask: (command: CloseDeadLetters | RetireDag, deadlineMs: number) => Promise<unknown> | null;
}

export class Upkeep {
  readonly #store: UpkeepStore;
  readonly retention: Retention;
  readonly #tell: Tell;
  readonly #letters: DeadLetterUpkeep;
  #timer: NodeJS.Timeout | null = null;
  #deadLetterTimer: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(store: UpkeepStore, retentionDays: number, letters: DeadLetterUpkeep, tell: Tell) {
    this.#store = store;
    this.#letters = letters;
    const { days: deadLetterDays } = letters;
    this.retention = { runDays: retentionDays, journalDays: Math.min(JOURNAL_DAYS, retentionDays), deadLetterDays };
    this.#tell = tell;
  }

  start(): void {
    this.#plan(FIRST_MS);
    this.#planDeadLetters();
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#deadLetterTimer !== null) clearTimeout(this.#deadLetterTimer);
  }

  async runOnce(): Promise<void> {
    const dropped = await this.#drop();
    const bundles = await this.#store.dropUnusedBundles();
    await this.#store.dropOldRequests();
    while (!this.#isStopped && (await this.#store.dropUnusedRunIds(this.retention.runDays)));
    while (!this.#isStopped && (await this.#store.dropUnusedJobs(this.retention.runDays)));
    await this.dropUnusedShapes();
    const closedBefore = (systemClock.wall() - this.#letters.days * DAY_MS) as Instant;
    while (!this.#isStopped && (await this.#store.dropClosedDeadLetters(closedBefore)));
    await this.#store.dropOldCallbacks();
    const rollupsBefore = Math.floor((systemClock.wall() - ROLLUP_DAYS * DAY_MS) / HOUR_MS);
    while (!this.#isStopped && (await this.#store.dropOldRollups(rollupsBefore)));
    const usageBefore = Math.floor(systemClock.wall() / DAY_MS) - ROLLUP_DAYS;
    while (!this.#isStopped && (await this.#store.dropOldUsage(usageBefore)));
    while (!this.#isStopped && (await this.#store.dropOldDecisions()));
    const eventsBefore = (systemClock.wall() - this.retention.runDays * DAY_MS) as Instant;
    while (!this.#isStopped && (await this.#store.dropOldWorkerEvents(eventsBefore)));
    this.#tell('info', 'Upkeep is done.', { ...dropped, bundles: bundles.dropped });
  }

  /** Dags that were made for jobs, once none of them has been kept: retired by the owner of their shard, removed a day later. */
  async dropUnusedShapes(): Promise<void> {
    const now = systemClock.wall();
    while (!this.#isStopped && (await this.#store.dropRetiredShapes(now)));
    const madeBefore = now - this.retention.runDays * DAY_MS;
    for (const { shard, dagId, tenantId } of await this.#store.findUnusedShapes(madeBefore)) {
      await this.#letters.ask({ kind: 'RetireDag', shard, tenantId, dagId, actor: SYSTEM }, CLOSE_WITHIN_MS);
    }
  }

  /** Closed by the owner of their shard, like everything that happens to a dead letter (I43). Answers how many were asked for. */
  async expireDeadLetters(): Promise<number> {
    const olderThan = (systemClock.wall() - this.#letters.days * DAY_MS) as Instant;
    const found = await this.#store.expiringDeadLetters({
      olderThan,
      mostOfDag: MOST_LETTERS_OF_DAG,
      limit: LETTERS_AT_ONCE,
    });
    for (const shard of new Set(found.map((letter) => letter.shard))) {
      const letters = found.filter((letter) => letter.shard === shard);
      const refs = letters.map(({ runId, taskNo, attemptNo }) => ({ runId, taskNo, attemptNo }));
      const command = {
        kind: 'CloseDeadLetters',
        shard,
        tenantId: null,
        deadLetters: refs,
        as: 'expired',
        actor: SYSTEM,
      } as const;
      await this.#letters.ask(command, CLOSE_WITHIN_MS);
    }
    return found.length;
  }

  #planDeadLetters(): void {
    if (!this.#isStopped) this.#deadLetterTimer = setTimeout(() => void this.#deadLetterRound(), LETTERS_EVERY_MS);
  }

  async #deadLetterRound(): Promise<void> {
    try {
      await this.expireDeadLetters();
    } catch (error) {
      this.#tell('warn', 'Dead letters could not be looked through; it is tried again in a minute.', {
        error: String(error),
      });
    }
    this.#planDeadLetters();
  }

  /** What is past its age, in few enough steps for somebody to wait for. */
  dropExpired(): Promise<RetentionRun> {
    return this.#drop({ maxSteps: STEPS_ON_DEMAND });
  }

  #drop(limit: { maxSteps?: number } = {}): Promise<RetentionRun> {
    const now = systemClock.wall();
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
