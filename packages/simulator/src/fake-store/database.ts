/**
 * The fake database: committed rows, row locks, connections, a clock of its own, and the faults that can befall them. It
 * models what the promises lean on: a transaction arrives statement by statement, takes effect in one instant or not at
 * all, and whoever sent it may never learn which.
 *
 * A read sees the rows of the instant at which its request arrives, never half of a commit.
 */
import { shardOfChange, type TenantId } from '@signalbox/engine';
import { Violation, writeChanges } from '@signalbox/engine/testing';
import type { CommitBatch } from '@signalbox/store';
import { Connection, type Wire } from './connection.ts';
import { type DatabaseFaults, noFaults, noSabotage, type Sabotage, type Step } from './faults.ts';
import type { JournalEntry } from './journal.ts';
import { RowLocks } from './locks.ts';
import type { SimScheduler } from './scheduler.ts';
import { Tables } from './tables.ts';

export interface FakeDatabaseOptions {
  readonly scheduler: SimScheduler;
  readonly faults?: DatabaseFaults;
  readonly sabotage?: Partial<Sabotage>;
  /** A constraint was broken: a bug in what sent the commit. The commit is refused as well. */
  readonly onViolation?: (violation: Violation, batch: CommitBatch) => void;
  /** How long a message takes, drawn evenly. */
  readonly hopMs?: { readonly min: number; readonly max: number };
  /** How long a chain that is opened or closed waits for a commit in flight on the one before it. */
  readonly chainLockTimeoutMs?: number;
  /** By how much the database's clock is ahead of simulated time at first. */
  readonly clockOffsetMs?: number;
  /** Besides `default`, which has number 1. */
  readonly tenants?: readonly { readonly tenantId: TenantId; readonly name: string }[];
}

export type Outage =
  /** Connections are refused at once. */
  | { readonly kind: 'refusing' }
  /** Nothing answers; callers give up after so long. */
  | { readonly kind: 'silent'; readonly giveUpMs: number };

export class FakeDatabase implements Wire {
  readonly scheduler: SimScheduler;
  readonly tables = new Tables();
  readonly locks = new RowLocks();
  readonly journal: JournalEntry[] = [];
  readonly sabotage: Sabotage;
  readonly chainLockTimeoutMs: number;
  faults: DatabaseFaults;
  /** Writes are refused, reads go on: a full disk, or a standby. */
  readOnly = false;
  /** All messages take so many times longer. */
  slowness = 1;
  readonly #connections = new Set<Connection>();
  readonly #onViolation: (violation: Violation, batch: CommitBatch) => void;
  readonly #hopMs: { readonly min: number; readonly max: number };
  #clockOffsetMs: number;
  #outage: Outage | null = null;

  constructor(options: FakeDatabaseOptions) {
    this.scheduler = options.scheduler;
    this.faults = options.faults ?? noFaults;
    this.chainLockTimeoutMs = options.chainLockTimeoutMs ?? 1_000;
    this.sabotage = { ...noSabotage, ...options.sabotage };
    this.#onViolation = options.onViolation ?? (() => {});
    this.#hopMs = options.hopMs ?? { min: 0.05, max: 0.5 };
    this.#clockOffsetMs = options.clockOffsetMs ?? 0;
    for (const { tenantId, name } of options.tenants ?? []) this.tables.tenants.set(tenantId, name);
    this.tables.log.keep();
  }

  /** The database's own clock. */
  now(): number {
    return this.scheduler.now() + this.#clockOffsetMs;
  }

  jumpClock(byMs: number): void {
    this.#clockOffsetMs += byMs;
  }

  get outage(): Outage | null {
    return this.#outage;
  }

  /** Stops at once: every connection and lock is gone, what was committed stays. Later calls fail until `start`. */
  stop(outage: Outage = { kind: 'refusing' }): void {
    this.#outage = outage;
    const hearsAfterMs = outage.kind === 'silent' ? outage.giveUpMs : null;
    for (const connection of [...this.#connections]) connection.endServer('the database went away', hearsAfterMs);
  }

  start(): void {
    this.#outage = null;
  }

  restart(): void {
    this.stop();
    this.start();
  }

  connect(name: string, lost: (why: string) => void): Connection {
    const connection = new Connection(name, this, lost);
    this.#connections.add(connection);
    return connection;
  }

  hop(what: string, run: () => void): void {
    const { min, max } = this.#hopMs;
    this.scheduler.after((min + this.scheduler.random() * (max - min)) * this.slowness, what, run);
  }

  after(ms: number, what: string, run: () => void): void {
    this.scheduler.after(ms, what, run);
  }

  rolledBack(connection: Connection): void {
    this.#connections.delete(connection);
    this.locks.releaseAll(connection);
  }

  /** Lets faults strike at this step. Goes on by `go`, with `refuse`, or not at all when the connection is gone. */
  reach(connection: Connection, step: Step, go: () => void, refuse: (why: string) => void): void {
    const goOn = () => {
      if (connection.serverAlive) go();
    };
    const fault = this.faults.onStep(step);
    if (fault === 'ok') return goOn();
    // What is done can't be refused: an answer that does not arrive is all that can go wrong.
    if (fault === 'cut' || (fault === 'refuse' && step.point === 'answer'))
      return connection.endServer(`connection cut at ${step.point}`);
    if (fault === 'refuse') return refuse(`the database refused at ${step.point}`);
    if (fault === 'half-open') {
      connection.fallSilent();
      return connection.endClient(`connection lost at ${step.point}`);
    }
    if ('delayMs' in fault)
      return this.scheduler.after(fault.delayMs, `${connection.name}: delayed ${step.point}`, goOn);
    fault.hold((how) => (how === 'ok' ? goOn() : connection.endServer(`connection cut at ${step.point}`)));
  }

  /** The effect of a commit, in one instant. Answers with what went wrong, or null. */
  takeEffect(batch: CommitBatch): Violation | null {
    try {
      for (const { shard, commitNo, lastRunId, lastDagNo } of batch.shards) {
        const row = this.tables.shard(shard);
        this.tables.shards.set(shard, { ...row, commitNo, lastRunId, lastDagNo, loadCount: 0 });
      }
      const fenced = new Set(batch.shards.map(({ shard }) => shard));
      for (const change of batch.changes) {
        if (!fenced.has(shardOfChange(change)))
          throw new Violation('a commit changes only the shards it has fenced', change);
      }
      writeChanges(this.tables, batch.changes, this.now());
      this.tables.log.keep();
      return null;
    } catch (error) {
      this.tables.log.undo();
      if (!(error instanceof Violation)) throw error;
      this.#onViolation(error, batch);
      return error;
    }
  }
}
