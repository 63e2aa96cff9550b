/**
 * The rows that a database would contain. Rows are never altered, only replaced, and each replacement can be undone: a
 * commit that breaks a constraint leaves nothing behind.
 */

import type { StoredBackfill } from '../../model/backfill.ts';
import type { AttemptEnded, SpeculativeEnded, SpeculativeTookOver, WindowDecided } from '../../model/change.ts';
import {
  type BackfillUid,
  type DagId,
  type RunId,
  type RunUid,
  type ScheduleId,
  SHARD_COUNT,
  type ShardNo,
  type TaskNo,
  type TenantId,
} from '../../model/ids.ts';
import type {
  StoredBreaker,
  StoredDag,
  StoredDeadLetter,
  StoredHeldEvents,
  StoredKey,
  StoredRun,
  StoredSchedule,
  StoredTask,
  StoredVersion,
} from '../../model/stored.ts';
import type { EventTrigger } from '../../model/trigger/event-trigger.ts';

export interface EventTriggerRow {
  readonly tenantId: TenantId;
  readonly event: string;
  readonly shard: ShardNo;
  readonly dagId: DagId;
  readonly triggers: readonly EventTrigger[];
}

export type DagRow = Omit<StoredDag, 'tenant'>;

export interface RunRow extends Omit<StoredRun, 'tasks'> {
  /** It had a claim at some time: a load finds it first. */
  readonly claimed: boolean;
  readonly backfill?: BackfillUid;
}

export class UndoLog {
  #steps: (() => void)[] = [];

  note(step: () => void): void {
    this.#steps.push(step);
  }

  keep(): void {
    this.#steps = [];
  }

  undo(): void {
    for (const step of this.#steps.reverse()) step();
    this.#steps = [];
  }
}

export class Table<K, V> {
  readonly #rows = new Map<K, V>();
  readonly #log: UndoLog;

  constructor(log: UndoLog) {
    this.#log = log;
  }

  get(key: K): V | undefined {
    return this.#rows.get(key);
  }

  has(key: K): boolean {
    return this.#rows.has(key);
  }

  set(key: K, row: V): void {
    const before = this.#rows.get(key);
    this.#log.note(before === undefined ? () => this.#rows.delete(key) : () => this.#rows.set(key, before));
    this.#rows.set(key, row);
  }

  delete(key: K): void {
    const before = this.#rows.get(key);
    if (before === undefined) return;
    this.#log.note(() => this.#rows.set(key, before));
    this.#rows.delete(key);
  }

  values(): IterableIterator<V> {
    return this.#rows.values();
  }

  get size(): number {
    return this.#rows.size;
  }

  /** A copy. */
  toMap(): Map<K, V> {
    return new Map(this.#rows);
  }
}

/** A backfill; how many of its runs are live is counted when it is read. */
export type BackfillRow = Omit<StoredBackfill, 'liveRuns'>;

export class ModelTables {
  readonly log = new UndoLog();
  readonly tenants = new Table<TenantId, string>(this.log);
  /** By shard and worker: when it was found silent, by the database's clock. */
  readonly silent = new Table<string, { shard: ShardNo; workerId: string; since: number; servedMs: number }>(this.log);
  readonly dags = new Table<DagId, DagRow>(this.log);
  readonly dagNames = new Table<string, DagId>(this.log);
  /** Which dags an event makes runs of. */
  readonly triggers = new Table<DagId, readonly EventTriggerRow[]>(this.log);
  readonly versions = new Table<string, StoredVersion>(this.log);
  readonly schedules = new Table<ScheduleId, StoredSchedule>(this.log);
  readonly windows = new Table<string, WindowDecided>(this.log);
  readonly runs = new Table<RunId, RunRow>(this.log);
  /** By the name that the engine gives them. */
  readonly deadLetters = new Table<string, StoredDeadLetter>(this.log);
  /** Those that are not closed, by dag and fingerprint. */
  readonly breakers = new Table<string, StoredBreaker>(this.log);
  /** Events that wait, by what they wait for. */
  readonly held = new Table<string, StoredHeldEvents>(this.log);
  readonly backfills = new Table<BackfillUid, BackfillRow>(this.log);
  readonly runUids = new Table<RunUid, RunId>(this.log);
  /** Per shard, the runs that have not ended. */
  readonly live: readonly Table<RunId, RunId>[] = Array.from({ length: SHARD_COUNT }, () => new Table(this.log));
  readonly tasks = new Table<RunId, Table<TaskNo, StoredTask>>(this.log);
  readonly attempts = new Table<string, AttemptEnded | SpeculativeEnded | SpeculativeTookOver>(this.log);
  readonly keys = new Table<string, StoredKey>(this.log);
  readonly payloads = new Table<string, string>(this.log);

  liveOf(shard: ShardNo): Table<RunId, RunId> {
    const runs = this.live[shard];
    if (runs === undefined) throw new RangeError(`there is no shard ${shard}`);
    return runs;
  }
}

export const versionKey = (dagId: DagId, versionNo: number): string => `${dagId}/${versionNo}`;
export const dagNameKey = (tenantId: TenantId, name: string): string => `${tenantId}/${name}`;
export const windowKey = (window: WindowDecided): string =>
  `${window.shard}/${window.dagId}/${window.scheduleNo}/${window.firesAt}/${window.wallTime ?? ''}`;
export const silentKey = (shard: ShardNo, workerId: string): string => `${shard}/${workerId}`;
export const storedKeyKey = (key: Omit<StoredKey, 'bodyHash' | 'runId' | 'uid'>): string =>
  `${key.shard}/${key.tenantId}/${key.operation}/${key.target}/${key.key}`;
