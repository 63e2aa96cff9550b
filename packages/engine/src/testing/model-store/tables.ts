/** The rows that a database would contain. */
import type { AttemptEnded, SpeculativeEnded, SpeculativeTookOver, WindowDecided } from '../../model/change.ts';
import {
  type BackfillUid,
  type DagId,
  type Instant,
  type RunId,
  type RunUid,
  type ScheduleId,
  SHARD_COUNT,
  type ShardNo,
  type TaskNo,
  type TenantId,
} from '../../model/ids.ts';
import type {
  StoredDag,
  StoredDeadLetter,
  StoredRun,
  StoredSchedule,
  StoredTask,
  StoredVersion,
} from '../../model/stored.ts';
import type { EventTrigger } from '../../model/trigger/event-trigger.ts';
import { DescribedTables } from './described.ts';
import { Table, UndoLog } from './table.ts';

export { Table, UndoLog };

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
  readonly endedAt?: Instant;
}

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
  /** Rows of described tables. */
  readonly described = new DescribedTables(this.log);
  readonly runUids = new Table<RunUid, RunId>(this.log);
  /** Per shard, the runs that have not ended. */
  readonly live: readonly Table<RunId, RunId>[] = Array.from({ length: SHARD_COUNT }, () => new Table(this.log));
  readonly tasks = new Table<RunId, Table<TaskNo, StoredTask>>(this.log);
  readonly attempts = new Table<string, AttemptEnded | SpeculativeEnded | SpeculativeTookOver>(this.log);
  readonly payloads = new Table<string, string>(this.log);

  liveOf(shard: ShardNo): Table<RunId, RunId> {
    const runs = this.live[shard];
    if (runs === undefined) throw new RangeError(`there is no shard ${shard}`);
    return runs;
  }
}

export const versionKey = (dagId: DagId, versionNo: number): string => `${dagId}/${versionNo}`;
export const dagNameKey = (tenantId: TenantId, name: string): string => `${tenantId}/${name}`;
export const windowKey = (window: Omit<WindowDecided, 'kind' | 'name' | 'skipped' | 'count' | 'untilAt'>): string =>
  `${window.shard}/${window.dagId}/${window.scheduleNo}/${window.firesAt}/${window.wallTime ?? ''}`;
export const silentKey = (shard: ShardNo, workerId: string): string => `${shard}/${workerId}`;
