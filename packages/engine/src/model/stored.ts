/**
 * What the store returns, on load and for what a command needs to see. Plain values: the store makes them from rows, and
 * `apply/restore.ts` makes state from them.
 */

import type { WordOf } from './change/words.ts';
import type { ParentRef } from './command.ts';
import type { AddedTask } from './dag/added.ts';
import type { DagSpec, Priority, ScheduleSpec } from './dag/spec.ts';
import type { DeadLetterRef, DeadLetterState, QuickFailures } from './dead-letter.ts';
import type {
  Actor,
  AttemptNo,
  DagId,
  Epoch,
  Fence,
  Instant,
  RunId,
  RunUid,
  ScheduleNo,
  ShardNo,
  TaskNo,
  TenantId,
  VersionNo,
  WorkerId,
} from './ids.ts';
import type { RunOutcome, RunPhase } from './run/phase.ts';
import type { FetchedTables, RowNeed } from './table/stored-tables.ts';
import type { CheckpointRef } from './task/checkpoint-ref.ts';
import type { Fingerprint } from './task/fingerprint.ts';
import type { AttemptOutcome } from './task/outcome.ts';
import { type StoredTaskState } from './task/task-states.ts';

/** A worker that was silent at an earlier takeover, and was not heard since. */
export interface SilentWorker {
  readonly workerId: WorkerId;
  /** How long ago that takeover was, by the database's clock. */
  readonly silentMs: number;
  /** How much of that time the shard had an owner that could have heard it, up to the last takeover. */
  readonly servedMs: number;
}

export interface StoredShard {
  readonly shard: ShardNo;
  readonly epoch: Epoch;
  readonly commitNo: number;
  readonly lastRunId: RunId;
  /** The last number given to a dag of this shard. */
  readonly lastDagNo: number;
  /**
   * How long ago, by the database's clock, the last break in service ended that was longer than the grace. Windows due
   * before that are missed. Null when there was none.
   */
  readonly missedAgoMs: number | null;
  readonly silentWorkers: readonly SilentWorker[];
}

export interface StoredDag {
  readonly shard: ShardNo;
  readonly dagId: DagId;
  readonly tenantId: TenantId;
  readonly tenant: string;
  readonly name: string;
  /** The version that new runs take. */
  readonly versionNo: VersionNo;
  readonly isRetired: boolean;
  /** Windows of schedules that were removed are decided up to here; 0 when there were none. */
  readonly windowsUntil: Instant;
  /** The last number given to one of its schedules; 0 when it never had any. */
  readonly lastScheduleNo: number;
}

export interface StoredVersion {
  readonly dagId: DagId;
  readonly versionNo: VersionNo;
  readonly hash: string;
  readonly spec: DagSpec;
}

export interface StoredSchedule {
  readonly shard: ShardNo;
  readonly dagId: DagId;
  readonly scheduleNo: ScheduleNo;
  readonly name: string;
  readonly origin: WordOf<'scheduleOrigins'>;
  readonly revision: number;
  readonly spec: ScheduleSpec;
  readonly paused: boolean;
  readonly decidedUntil: Instant;
  readonly fault: string | null;
  /** How many of its windows have become runs. */
  readonly fired: number;
  /** Nobody needs to look at it before this; null: as it is, never. */
  readonly dueAt: Instant | null;
}

/** Where a walk over schedules in order of their due time goes on. */
export interface DueCursor {
  readonly dueAt: Instant;
  readonly dagId: DagId;
  readonly scheduleNo: ScheduleNo;
}

/** Those of one shard that are due after `after`, up to `until`. */
export interface DueRange {
  readonly shard: ShardNo;
  readonly after: DueCursor;
  readonly until: Instant;
}

/** How far a walk came: `last` null, to its end. */
export interface DueWalked extends Pick<DueRange, 'shard' | 'until'> {
  readonly last: DueCursor | null;
}

/** Where a walk over all schedules of a shard that depend on zone data goes on. */
export interface ZonedCursor {
  readonly dagId: DagId;
  readonly scheduleNo: ScheduleNo;
}

/** A task with a row: one that was claimed at least once, or marked by hand; `outcome` is null for one that was marked. */
export interface StoredTask {
  readonly taskNo: TaskNo;
  readonly state: StoredTaskState;
  readonly attemptNo: AttemptNo;
  readonly fence: Fence;
  readonly workerId: WorkerId;
  readonly claimedAt: Instant;
  readonly retryAt: Instant | null;
  readonly endedAt: Instant | null;
  readonly outcome: AttemptOutcome | null;
  readonly lostCount: number;
  /** Of its last failure. */
  readonly fingerprint: Fingerprint | null;
  readonly quick: QuickFailures | null;
  /** Attempts up to this number count against no budget. */
  readonly budgetBase: number;
  /** What decisions need of its output; null unless it has succeeded, and others look at it. */
  readonly facts: string | null;
  /** What an attempt of it has left for the next one. */
  readonly checkpoint: CheckpointRef | null;
  /** What else is kept of it: see `tables/task/task-notes.ts`. */
  readonly notes: string | null;
}

/** Its last attempt was stopped, and the task cleared by hand since. It may have expired after that, before its next attempt. */
export function isStoppedAndCleared({ state, outcome }: StoredTask): boolean {
  return (state === 'cleared' || state === 'expired') && outcome === 'cancelled';
}

/** A map that has expanded, or was removed since. */
export interface StoredMap {
  readonly group: number;
  /** The number of the first task of the instance that it expanded in; null for the run itself. */
  readonly scope: number | null;
  readonly firstNo: number;
  readonly total: number;
  /** So many of its instances are there. */
  readonly unfolded: number;
  readonly isRemoved: boolean;
}

/** Somebody has paused a task, or (`taskNo` null) the whole run. */
export interface StoredPause {
  readonly taskNo: TaskNo | null;
  readonly by: Actor;
  readonly at: Instant;
  readonly until: Instant | null;
}

export interface RunWindow {
  readonly at: Instant;
  readonly start: Instant;
}

export interface StoredRun {
  readonly runId: RunId;
  readonly uid: RunUid;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  readonly versionNo: VersionNo;
  readonly priority: Priority;
  readonly phase: RunPhase;
  readonly outcome: RunOutcome | null;
  /** Somebody did not want to wait for what closes it. */
  readonly isForced: boolean;
  readonly admitted: boolean;
  readonly strikes: number;
  readonly setAside: boolean;
  readonly hasParams: boolean;
  /** What decisions need of its params. */
  readonly facts: string | null;
  readonly createdAt: Instant;
  /** The window that it is for, and where its data interval begins. */
  readonly window?: RunWindow;
  /** When it became active, the last time; absent while it waits. */
  readonly admittedAt?: Instant;
  /** What is kept of a run whose time is limited: see `tables/timer/run-timers.ts`. */
  readonly notes?: string;
  /** The call that made it. */
  readonly parent?: ParentRef;
  /** The schedule whose window it is for; absent for others. */
  readonly scheduleNo?: ScheduleNo;
  /** Of one that was cancelled with another grace than the usual. */
  readonly graceMs: number | null;
  /** How often its own policy has opened it again. */
  readonly retries: number;
  /** In order of the tasks, the run's own first. */
  readonly pauses: readonly StoredPause[];
  /** Those with a row, in order of their number. */
  readonly tasks: readonly StoredTask[];
  /** Ordered by their first number; absent for a run without any. */
  readonly maps?: readonly StoredMap[];
  /** Tasks that were added to it, ordered by number; absent for a run without any. */
  readonly added?: readonly AddedTask[];
}

export interface StoredDeadLetter {
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly attemptNo: AttemptNo;
  readonly tenantId: TenantId;
  readonly state: DeadLetterState;
}

/** How many live runs of a dag are admitted: known at once on load, before all of its runs are. */
export interface AdmittedCount {
  readonly dagId: DagId;
  readonly admitted: number;
}

/** What a command must see and the working set lacks. The host fetches all of a batch in one go. */
export type Need =
  | { readonly kind: 'run'; readonly runId: RunId }
  | { readonly kind: 'run_uid'; readonly shard: ShardNo; readonly uid: RunUid }
  | { readonly kind: 'dag'; readonly shard: ShardNo; readonly dagId: DagId }
  | {
      readonly kind: 'dag_name';
      readonly shard: ShardNo;
      readonly tenantId: TenantId;
      readonly name: string;
      /** Schedules of the dag that come along: those of its definition, and those with these names. */
      readonly schedules: readonly string[];
      /** And all but delayed runs, up to so many. */
      readonly first?: number;
    }
  | ScheduleNeed
  | { readonly kind: 'due'; readonly ranges: readonly DueRange[]; readonly limit: number }
  | { readonly kind: 'zoned'; readonly shard: ShardNo; readonly after: ZonedCursor; readonly limit: number }
  | { readonly kind: 'version'; readonly shard: ShardNo; readonly dagId: DagId; readonly versionNo: VersionNo }
  | {
      readonly kind: 'windows';
      readonly shard: ShardNo;
      readonly dagId: DagId;
      /** A number, or the name of one that is not in memory. */
      readonly schedule: ScheduleNo | string;
      readonly at: readonly Instant[];
    }
  | ({ readonly kind: 'deadLetter' } & DeadLetterRef)
  /** The newest window before this one that has a run, and its newest run with all its tasks. */
  | ({ readonly kind: 'past'; readonly shard: ShardNo } & PastKey)
  /** Whether a run of a dag, of any shard, has succeeded. */
  | ({ readonly kind: 'requirement'; readonly shard: ShardNo } & RequirementKey)
  | RowNeed;

/** Schedules of a dag: those that fit any of what is given. */
export interface ScheduleNeed {
  readonly kind: 'schedules';
  readonly shard: ShardNo;
  readonly dagId: DagId;
  readonly names?: readonly string[];
  readonly numbers?: readonly ScheduleNo[];
  /** All of its definition. */
  readonly ofDefinition?: true;
  /** All but delayed runs, up to so many. */
  readonly first?: number;
}

/** The answer to needs. What is absent does not exist (as of the last commit). A dag comes with its current version. */
export interface Seen {
  readonly runs: readonly StoredRun[];
  readonly dags: readonly StoredDag[];
  readonly versions: readonly StoredVersion[];
  readonly schedules: readonly StoredSchedule[];
  readonly deadLetters: readonly StoredDeadLetter[];
  /** For a need of kind `due`: the shards that were walked, in the order of the ranges. */
  readonly due: readonly DueWalked[];
  /** For a need of kind `zoned`: those that were found, in order. */
  readonly zoned: {
    readonly shard: ShardNo;
    readonly schedules: readonly StoredSchedule[];
    readonly isLast: boolean;
  } | null;
  /** One for each window that was asked for. */
  readonly windows: readonly StoredWindow[];
  /** Rows of described tables. */
  readonly tables: FetchedTables;
  /** One for each that was asked for. The runs are among `runs`. */
  readonly pasts: readonly StoredPast[];
  /** One for each that was asked for. */
  readonly requirements: readonly StoredRequirement[];
}

/** A run of the dag has succeeded: it ended since then, or is for that window. One of the two is null. */
export interface RequirementKey {
  readonly tenantId: TenantId;
  readonly dag: string;
  readonly since: Instant | null;
  readonly window: Instant | null;
}

export interface StoredRequirement extends RequirementKey {
  readonly isMet: boolean;
}

export interface PastKey {
  readonly dagId: DagId;
  readonly scheduleNo: ScheduleNo;
  readonly before: Instant;
}

/** What lies before a window. */
export interface StoredPast extends PastKey {
  readonly found: { readonly at: Instant; readonly runId: RunId } | null;
}

/** A window, and its newest run if it has any. */
export interface StoredWindow {
  readonly dagId: DagId;
  readonly scheduleNo: ScheduleNo;
  readonly at: Instant;
  readonly run: {
    readonly runId: RunId;
    readonly uid: RunUid;
    readonly isLive: boolean;
    readonly outcome: RunOutcome | null;
  } | null;
}
