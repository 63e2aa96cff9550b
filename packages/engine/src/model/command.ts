/** What someone wants. Callers' commands get an answer; what workers and gateways say, and ticks, do not need one. */

import type { DagSpec, Priority } from './dag/spec.ts';
import type { DeadLetterRef } from './dead-letter.ts';
import type {
  Actor,
  AttemptNo,
  DagId,
  Epoch,
  Fence,
  Instant,
  NodeId,
  QueueName,
  RunId,
  RunUid,
  ShardNo,
  TaskNo,
  TenantId,
  VersionNo,
  WorkerId,
} from './ids.ts';
import type { RunOutcome } from './run/phase.ts';
import type { ReadFacts } from './task/facts.ts';
import type { Fingerprint } from './task/fingerprint.ts';
import type { Mark, ReportedOutcome } from './task/outcome.ts';
import { type TaskState } from './task/task-states.ts';

/** Names one claim. The token that proves it has been checked at the edge: here only the number counts (D8). */
export interface ClaimRef {
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly attemptNo: AttemptNo;
  readonly fence: Fence;
}

/** With how long before its heartbeat the attempt told of progress, if it ever did. */
export type HeldClaim = ClaimRef & { readonly progressAgoMs?: number };

export interface DeployDag {
  readonly kind: 'DeployDag';
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly tenant: string;
  readonly name: string;
  readonly spec: DagSpec;
  readonly hash: string;
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
  }[];
  readonly key: { readonly key: string; readonly bodyHash: string } | null;
  /** An earlier send of this very command may have been done: look before doing it. */
  readonly mayRepeat: boolean;
  /** The version whose schema the params were checked against, and filled in from. Absent: they were not. */
  readonly checkedFor?: VersionNo;
  /** The dead letter that it replays: used once, by the first to be committed (I43). */
  readonly replays?: DeadLetterRef;
  /** What asked for them; `api` unless told. */
  readonly cause?: 'api' | 'event';
  /** Of this version instead of the current one: a run is to be made again as it was (I35). */
  readonly versionNo?: VersionNo;
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

/**
 * Another attempt, by hand: of a task that waits for its backoff, at once; of one that failed, with fresh budgets, and its run
 * is open again.
 */
export interface RetryTask {
  readonly kind: 'RetryTask';
  readonly tenantId: TenantId;
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly actor: Actor;
}

/** A dead letter's task is tried again in its run, once (I43). */
export interface ReplayDeadLetter {
  readonly kind: 'ReplayDeadLetter';
  readonly tenantId: TenantId;
  readonly deadLetter: DeadLetterRef;
  readonly actor: Actor;
}

/** Nobody wants these any more, or they are too old. All of one shard. */
export interface CloseDeadLetters {
  readonly kind: 'CloseDeadLetters';
  readonly shard: ShardNo;
  /** Null for upkeep, which knows no tenant. */
  readonly tenantId: TenantId | null;
  readonly deadLetters: readonly DeadLetterRef[];
  readonly as: 'discarded' | 'expired';
  readonly actor: Actor;
}

/** What a breaker holds is let go. */
export interface ResetBreaker {
  readonly kind: 'ResetBreaker';
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  /** Null for the dag's own. */
  readonly fingerprint: Fingerprint | null;
  readonly actor: Actor;
}

/** Which tasks of a run. */
export interface TaskSelection {
  /** Null: all of them. */
  readonly tasks: readonly TaskNo[] | null;
  /** Of those, the ones in one of these states. Null: in any. */
  readonly states: readonly TaskState[] | null;
  /** And what lies behind these, and before them, whatever their state. */
  readonly downstream: boolean;
  readonly upstream: boolean;
}

/** What a hand on a run may say beside what it wants. */
interface ManualAction {
  readonly tenantId: TenantId;
  readonly runId: RunId;
  /** Attempts that run may be stopped for it. */
  readonly force: boolean;
  /** Only tell what would be done. */
  readonly dryRun: boolean;
  readonly actor: Actor;
}

/** Runs tasks again, whatever their result was. A run that has ended is opened again. */
export interface ClearTasks extends ManualAction {
  readonly kind: 'ClearTasks';
  readonly select: TaskSelection;
}

/** What has become of tasks, by a person's word. */
export interface MarkTasks extends ManualAction {
  readonly kind: 'MarkTasks';
  readonly tasks: readonly TaskNo[];
  readonly as: Mark;
  /** With `succeeded`: what they have returned, as JSON text. */
  readonly output: string | null;
  readonly reason: string | null;
}

/** Nothing new of a run, or of one of its tasks, is claimed from here on; or it is again. */
export interface SetPaused {
  readonly kind: 'SetPaused';
  readonly tenantId: TenantId;
  readonly runId: RunId;
  /** Null: the whole run. */
  readonly taskNo: TaskNo | null;
  readonly paused: boolean;
  readonly actor: Actor;
}

export interface SetSchedulePaused {
  readonly kind: 'SetSchedulePaused';
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  readonly paused: boolean;
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

export interface ReportAttempt {
  readonly kind: 'ReportAttempt';
  readonly claim: ClaimRef;
  readonly workerId: WorkerId;
  readonly outcome: ReportedOutcome;
  readonly output: string | null;
  /** What decisions need of an output that is stored elsewhere, and stands here by reference. */
  readonly facts?: ReadFacts;
  readonly error: string | null;
  readonly startedAt: Instant | null;
  /** For people and retry policies: see `AttemptEnded`. */
  readonly code?: string | null;
  /** The next attempt is not to start before this has passed: what a server has asked for. */
  readonly retryAfterMs?: number | null;
  /** What the next attempt would need, as far as this one could tell. */
  readonly memoryBytes?: number | null;
}

/** Keep this for the next attempt of the task. Sent again it is the same: `no` grows with each new one of an attempt (I22). */
export interface SaveCheckpoint {
  readonly kind: 'SaveCheckpoint';
  readonly claim: ClaimRef;
  readonly workerId: WorkerId;
  readonly no: number;
  /** JSON. */
  readonly value: string;
}

/** A task to be added to the run, by names. */
export interface NewTask {
  readonly name: string;
  /** The name of a template of the dag. */
  readonly template: string;
  /** What it waits for, beside the task that adds it. */
  readonly needs: readonly string[];
  /** What is to wait for it. */
  readonly before: readonly string[];
  /** JSON text of an object, keys in order; null for none. */
  readonly inputs: string | null;
}

/** A running attempt adds tasks to its run, all of them or none. What is there already, the same, is not added again. */
export interface AddTasks {
  readonly kind: 'AddTasks';
  readonly claim: ClaimRef;
  readonly workerId: WorkerId;
  readonly tasks: readonly NewTask[];
}

/** Is the task still held by this claim? Asked before a write to an outside system. */
export interface AssertOwned {
  readonly kind: 'AssertOwned';
  readonly claim: ClaimRef;
  readonly workerId: WorkerId;
}

/** A running attempt wants to have at least this long from now. */
export interface ExtendAttempt {
  readonly kind: 'ExtendAttempt';
  readonly claim: ClaimRef;
  readonly workerId: WorkerId;
  readonly byMs: number;
}

/** The worker did not start this claim. */
export interface RefuseClaim {
  readonly kind: 'RefuseClaim';
  readonly claim: ClaimRef;
  readonly workerId: WorkerId;
}

/** The call that a run was made by: a claim of its parent's task. Kept with the run for as long as that lives. */
export interface ParentRef extends ClaimRef {
  /** Of the parent run, and the name of its task: for people. */
  readonly uid: RunUid;
  readonly task: string;
  /** How many calls lie above the run: 1 for one whose parent has none. */
  readonly depth: number;
  /** The parent waits for its end. */
  readonly waits: boolean;
}

/** To the shard of the dag that a task runs: make that run, unless it is there. Its uid names the call (I11). */
export interface BeginChild {
  readonly kind: 'BeginChild';
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  readonly uid: RunUid;
  readonly parent: ParentRef;
  readonly params: string | null;
  /** The version whose schema the params were checked against; absent where it has none. */
  readonly checkedFor?: VersionNo;
  readonly priority: Priority;
}

/** To the same shard: what has become of it? One that has ended is told of again. */
export interface AskChild {
  readonly kind: 'AskChild';
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  readonly uid: RunUid;
  readonly parent: ParentRef;
  readonly priority: Priority;
  /** It is to be cancelled, with force or without; where it has not begun, it never will. */
  readonly stop: boolean;
  readonly force: boolean;
}

/**
 * What became of a call. `accepted`: the run is stored, and the task does not wait for it. `refused`: there will be no run,
 * for a reason that stays; `full`: there is none, for now. `unbegun`: it was stopped before there was one.
 */
export type CallEnd = RunOutcome | 'set_aside' | 'accepted' | 'refused' | 'full' | 'unbegun';

/** To the shard of the parent. With any claim but the one that waits it changes nothing (I21, I51). */
export interface ChildEnded {
  readonly kind: 'ChildEnded';
  readonly claim: ClaimRef;
  readonly end: CallEnd;
  readonly output: string | null;
  readonly error: string | null;
}

/** A gateway lends slots of a worker, for one decision, or until recalled when it has no better use for them (D6). */
export interface LendSlots {
  readonly kind: 'LendSlots';
  readonly gateway: NodeId;
  readonly workerId: WorkerId;
  /** Whose worker it is: it gets no task of anybody else (I65). */
  readonly tenantId: TenantId;
  readonly queues: readonly QueueName[];
  readonly count: number;
  readonly standing: boolean;
  /** How long ago the gateway heard the worker. */
  readonly agoMs: number;
}

export interface RecallSlots {
  readonly kind: 'RecallSlots';
  readonly gateway: NodeId;
  readonly workerId: WorkerId;
  readonly count: number;
}

/** A heartbeat: renews every lease of the worker, and says what it holds. */
export interface WorkerHeard {
  readonly kind: 'WorkerHeard';
  readonly gateway: NodeId;
  readonly workerId: WorkerId;
  /** How long ago the gateway heard it. */
  readonly agoMs: number;
  readonly holds: readonly HeldClaim[];
  /** It was told to stop, and takes no new work: what goes with it now is no fault of its tasks. */
  readonly isDraining?: boolean;
  /** The shards that `holds` speaks of, where it is not all of them: of others it proves nothing by what it lacks. */
  readonly covers?: readonly ShardNo[];
  /**
   * The worker made this set after it had heard of these owners, and takes no assignment of an older one since: what
   * is not in it will not begin any more (I17).
   */
  readonly knows: readonly { readonly shard: ShardNo; readonly epoch: Epoch }[];
}

/** The worker has left in order, and holds nothing. */
export interface WorkerLeft {
  readonly kind: 'WorkerLeft';
  readonly gateway: NodeId;
  readonly workerId: WorkerId;
}

/** The link to a gateway is gone: what it lent is not there any more. Its workers' leases go on by themselves. */
export interface GatewayLost {
  readonly kind: 'GatewayLost';
  readonly gateway: NodeId;
}

/** A decision about this run threw in the host's hands (I57). */
export interface StrikeRun {
  readonly kind: 'StrikeRun';
  readonly runId: RunId;
  readonly reason: string;
  /** At once, whatever its strikes: it can't even be loaded, or its load ended the process. */
  readonly setAside: boolean;
}

/** A decision about this dag's schedule threw in the host's hands (I57). */
export interface StrikeSchedule {
  readonly kind: 'StrikeSchedule';
  readonly shard: ShardNo;
  readonly dagId: DagId;
  readonly reason: string;
}

/** Time has passed: due windows, timeouts, leases, retries. */
export interface Tick {
  readonly kind: 'Tick';
}

export type Command =
  | DeployDag
  | SubmitRuns
  | CancelRun
  | RetryTask
  | ReplayDeadLetter
  | CloseDeadLetters
  | ResetBreaker
  | ClearTasks
  | MarkTasks
  | SetPaused
  | SetSchedulePaused
  | RetireDag
  | ReportAttempt
  | ExtendAttempt
  | SaveCheckpoint
  | AssertOwned
  | AddTasks
  | RefuseClaim
  | BeginChild
  | AskChild
  | ChildEnded
  | LendSlots
  | RecallSlots
  | WorkerHeard
  | WorkerLeft
  | GatewayLost
  | StrikeRun
  | StrikeSchedule
  | Tick;

export type RefusalCode =
  | 'DAG_NOT_FOUND'
  | 'RUN_NOT_FOUND'
  | 'SCHEDULE_NOT_FOUND'
  | 'SCHEDULE_INVALID'
  | 'IDEMPOTENCY_CONFLICT'
  | 'PARAMS_UNCHECKED'
  | 'UNTIL_INVALID'
  | 'TASK_OUTSIDE_RUN'
  | 'TASK_NOT_FOUND'
  | 'TASK_NOT_RETRYABLE'
  | 'LETTER_NOT_FOUND'
  | 'LETTER_CLOSED'
  | 'BREAKER_NOT_FOUND'
  | 'TASK_BUSY'
  | 'TASK_ENDED'
  | 'TOO_MANY_TASKS'
  | 'OUTPUT_INVALID'
  | 'RUN_CLOSING'
  | 'RUN_WOULD_CLOSE'
  | 'RUN_ENDED'
  | 'RUN_SET_ASIDE'
  | 'STALE_TOKEN'
  | 'EXTEND_REFUSED'
  | 'ADD_REFUSED'
  | 'NOT_OWNER';

/** One task that a hand has touched, or would. */
export interface TouchedTask {
  readonly taskNo: TaskNo;
  /** An instance of a map has the name of its task. */
  readonly name: string;
  readonly before: TaskState;
  readonly after: TaskState;
  /** `decided`: by what has become of those before it. */
  readonly how: 'cleared' | 'marked' | 'cancelled' | 'decided' | 'closes';
  /** The attempt that was stopped for it; 0 for none. */
  readonly stopped: number;
}

/** What a hand on a run has done, or would do. */
export interface Touched {
  readonly ok: true;
  readonly kind: 'touched';
  readonly dryRun: boolean;
  /** It had ended, and is open again. */
  readonly reopened: boolean;
  readonly tasks: readonly TouchedTask[];
}

export type Answer =
  | {
      readonly ok: true;
      readonly kind: 'deployed';
      readonly dagId: DagId;
      readonly versionNo: VersionNo;
      readonly changed: boolean;
    }
  | {
      readonly ok: true;
      readonly kind: 'submitted';
      readonly uid: RunUid;
      readonly count: number;
      readonly repeated: boolean;
    }
  | { readonly ok: true; readonly kind: 'cancelled'; readonly outcome: RunOutcome }
  | { readonly ok: true; readonly kind: 'child'; readonly state: 'absent' | 'live' | 'ended' | 'full' }
  | { readonly ok: true; readonly kind: 'closed'; readonly count: number }
  | Touched
  | { readonly ok: true; readonly kind: 'done' }
  | { readonly ok: true; readonly kind: 'recorded' }
  /** How long the attempt has from now; null when nothing limits it. */
  | { readonly ok: true; readonly kind: 'extended'; readonly leftMs: number | null }
  | { readonly ok: false; readonly code: RefusalCode; readonly detail: string };

export const DONE: Answer = { ok: true, kind: 'done' };
export const RECORDED: Answer = { ok: true, kind: 'recorded' };

export function refuse(code: RefusalCode, detail = ''): Answer {
  return { ok: false, code, detail };
}
