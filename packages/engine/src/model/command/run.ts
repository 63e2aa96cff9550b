/** Commands of users and of the API about dags, schedules and whole runs. */
import type { DagSpec, Priority } from '../dag/spec.ts';
import type { DeadLetterRef } from '../dead-letter.ts';
import type { Actor, DagId, Instant, RunId, RunUid, ShardNo, TenantId, VersionNo } from '../ids.ts';

export interface DeployDag {
  readonly kind: 'DeployDag';
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly tenant: string;
  readonly name: string;
  readonly spec: DagSpec;
  readonly hash: string;
  /** It was counted under the quota of its tenant. */
  readonly isCounted?: true;
  readonly actor: Actor;
}

/** No new runs: its schedule and its trigger are gone, live runs go on to their end. The next deploy brings it back. */
export interface RetireDag {
  readonly kind: 'RetireDag';
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  readonly actor: Actor;
}

/** Lets a halted dag go on. One that is not halted stays as it is. */
export interface ResumeDag {
  readonly kind: 'ResumeDag';
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  readonly actor: Actor;
}

export interface SubmitRuns {
  readonly kind: 'SubmitRuns';
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  /** Of the first item; see `uidOfItem`. Made by the edge, so that a command sent again is the same command (I11). */
  readonly uid: RunUid;
  readonly items: readonly {
    readonly params: string | null;
    readonly priority: Priority | null;
    /** Name of the task or group that the run goes up to. */
    readonly until?: string;
    /** A delayed run: it begins then. Comes with a key, so that a command sent again is found. */
    readonly at?: Instant;
  }[];
  /** The one run is for this window. If the window has a run, that is the answer (I1). */
  readonly window?: ChosenWindow;
  readonly key: { readonly key: string; readonly bodyHash: string } | null;
  /** An earlier send of this very command may have been done: look before doing it. */
  readonly mayRepeat: boolean;
  /** The version whose schema the params were checked against, and filled in from. Absent: they were not. */
  readonly checkedFor?: VersionNo;
  /** The dead letter that it replays: used once, by the first to be committed (I43). */
  readonly replays?: DeadLetterRef;
  /** What asked for them; `api` unless told. */
  readonly cause?: 'api' | 'event';
  /** Uses this version instead of the current one, to repeat a run as it was (I35). */
  readonly versionNo?: VersionNo;
  /** They were counted under the quota of their tenant. */
  readonly isCounted?: true;
  readonly actor: Actor;
}

export interface CancelRun {
  readonly kind: 'CancelRun';
  readonly tenantId: TenantId;
  readonly runId: RunId;
  /** What closes the run is ended as well: it has ended as soon as nothing of it runs. */
  readonly force?: true;
  /** What running attempts are given to stop; the usual grace where it is not told, an hour at most. */
  readonly graceMs?: number;
  /** Only tells what would be stopped, and what would run to close the run. */
  readonly dryRun?: true;
  readonly actor: Actor;
}

/** A window of a schedule of the dag. */
export interface ChosenWindow {
  /** The name of the schedule. */
  readonly schedule: string;
  readonly at: Instant;
}
