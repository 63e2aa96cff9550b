/**
 * What became true. Durable changes are stored, all of a batch in one commit, and are the journal; `apply` turns them
 * into state. What a change implies (a task made ready, a task that will never run) is derived, never stored: see
 * `propagate/derive.ts`.
 *
 * `params`, `output`, `error` and checkpoints pass through to the store and are not kept in memory, nor written to the journal.
 */

import type { BreakerSet } from './breaker-change.ts';
import type { ParentRef } from './command.ts';
import type { AddedTask } from './dag/added.ts';
import type { DagSpec, Priority, ScheduleSpec } from './dag/spec.ts';
import type { QuickFailures } from './dead-letter.ts';
import type { DeadLetterClosed, DeadLetterWritten } from './dead-letter-change.ts';
import type {
  Actor,
  AttemptNo,
  DagId,
  Fence,
  Instant,
  RunId,
  RunUid,
  ShardNo,
  TaskNo,
  TenantId,
  VersionNo,
  WorkerId,
} from './ids.ts';
import type { RunOutcome } from './run/phase.ts';
import type { Fingerprint } from './task/fingerprint.ts';
import type { AttemptOutcome, Mark } from './task/outcome.ts';

export type { BreakerSet } from './breaker-change.ts';
export type { DeadLetterClosed, DeadLetterWritten } from './dead-letter-change.ts';

export interface DagDeployed {
  readonly kind: 'DagDeployed';
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  readonly name: string;
  readonly versionNo: VersionNo;
  readonly hash: string;
  readonly spec: DagSpec;
  readonly actor: Actor;
  readonly at: Instant;
}

/** No new runs from here on; live ones go on. Its schedule goes by a change of its own, in the same commit. */
export interface DagRetired {
  readonly kind: 'DagRetired';
  readonly shard: ShardNo;
  readonly dagId: DagId;
  readonly actor: Actor;
  readonly at: Instant;
}

/** A retired dag was deployed as it was: it is back in the version that it had. Another version comes as `DagDeployed`. */
export interface DagRevived {
  readonly kind: 'DagRevived';
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  /** The event that makes runs of it. */
  readonly event: string | null;
  readonly actor: Actor;
  readonly at: Instant;
}

/** A schedule came, was edited, paused or resumed. One per dag; `revision` grows with each edit (I6). */
export interface ScheduleSet {
  readonly kind: 'ScheduleSet';
  readonly shard: ShardNo;
  readonly dagId: DagId;
  readonly revision: number;
  readonly spec: ScheduleSpec;
  readonly paused: boolean;
  /** All windows up to here are decided; the next one is later (I1, I5). */
  readonly decidedUntil: Instant;
  /** Why the server itself has paused it: deciding its windows went wrong (I57). */
  readonly fault: string | null;
  readonly actor: Actor;
  readonly at: Instant;
}

export interface ScheduleRemoved {
  readonly kind: 'ScheduleRemoved';
  readonly shard: ShardNo;
  readonly dagId: DagId;
  /** Windows up to here are decided: kept with the dag, for the next schedule that it gets (I1). */
  readonly decidedUntil: Instant;
  readonly actor: Actor;
  readonly at: Instant;
}

export type SkipReason = 'paused' | 'missed' | 'gap';

/** A window was decided, once: a run was created for it, or it was skipped for a reason (I2). Moves `decidedUntil`. */
export interface WindowDecided {
  readonly kind: 'WindowDecided';
  readonly shard: ShardNo;
  readonly dagId: DagId;
  readonly firesAt: Instant;
  /** For a wall time that does not exist (skipped: gap); null otherwise. */
  readonly wallTime: string | null;
  readonly runId: RunId | null;
  readonly skipped: SkipReason | null;
  /**
   * How many windows this speaks of: a long row of skipped ones is recorded as one, from `firesAt` to `untilAt`.
   * 0 when there were too many to count.
   */
  readonly count: number;
  readonly untilAt: Instant;
  readonly at: Instant;
}

export interface RunCreated {
  readonly kind: 'RunCreated';
  readonly runId: RunId;
  readonly uid: RunUid;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  readonly versionNo: VersionNo;
  readonly priority: Priority;
  readonly cause: 'api' | 'schedule' | 'event' | 'parent';
  /** The window it was created for; null for a run on demand. */
  readonly firesAt: Instant | null;
  /** The call that made it. */
  readonly parent?: ParentRef;
  /** False while the dag has as many active runs as it may (I7). */
  readonly admitted: boolean;
  readonly params: string | null;
  /** It goes up to this task or group only. */
  readonly until?: string;
  /** What conditions need of the params, as JSON; kept in memory and in the journal, as those are not. */
  readonly facts: string | null;
  readonly actor: Actor;
  readonly at: Instant;
}

/** The run became one of its dag's active ones. */
export interface RunAdmitted {
  readonly kind: 'RunAdmitted';
  readonly runId: RunId;
  readonly at: Instant;
}

/** One idempotency key, one outcome (I11). `target` is the dag for submissions. */
export interface KeyStored {
  readonly kind: 'KeyStored';
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly operation: string;
  readonly target: number;
  readonly key: string;
  readonly bodyHash: string;
  readonly runId: RunId;
  readonly uid: RunUid;
  readonly at: Instant;
}

/** Also of a call of another dag: then the worker is `NOBODY`, and the task waits. */
export interface AttemptClaimed {
  readonly kind: 'AttemptClaimed';
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly attemptNo: AttemptNo;
  readonly fence: Fence;
  readonly workerId: WorkerId;
  /** No row of the task exists yet. */
  readonly firstOfTask: boolean;
  /** The run had no claim before: its `live_run` row is marked, so that a load finds it first. */
  readonly firstOfRun: boolean;
  readonly at: Instant;
  /** What is kept of the task from here on, as JSON; absent where that is as before. See `tables/task/task-notes.ts`. */
  readonly notes?: string;
}

export type ReturnReason = 'refused' | 'undelivered' | 'drained';

/** A claim that never began goes back to ready; its fence is used up, its attempt number is not (I26). */
export interface ClaimReturned {
  readonly kind: 'ClaimReturned';
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly fence: Fence;
  readonly reason: ReturnReason;
  readonly at: Instant;
}

export interface AttemptEnded {
  readonly kind: 'AttemptEnded';
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly attemptNo: AttemptNo;
  readonly fence: Fence;
  readonly workerId: WorkerId;
  readonly outcome: AttemptOutcome;
  /** What the task is after it. */
  readonly taskState: 'retrying' | 'succeeded' | 'failed' | 'cancelled';
  readonly claimedAt: Instant;
  /** By the worker's clock; null when it never said. */
  readonly startedAt: Instant | null;
  readonly endedAt: Instant;
  /** When the next attempt may start; null when the task has ended with this one. */
  readonly retryAt: Instant | null;
  /** How many of the task's attempts, this one included, were lost with their worker. */
  readonly lostCount: number;
  /** What failures of one cause have in common; null for a success. The task keeps that of its last failure. */
  readonly fingerprint: Fingerprint | null;
  /** How many attempts in a row, this one the last of them, failed at once; null when it did not. */
  readonly quick: QuickFailures | null;
  readonly output: string | null;
  /** What decisions need of the output, as JSON; kept in memory and in the journal, as that is not. */
  readonly facts: string | null;
  readonly error: string | null;
  /** For people and retry policies: `exit:137`, `http:503`, `error:TypeError`; null when nobody said. */
  readonly code: string | null;
  /** As in `AttemptClaimed`. */
  readonly notes?: string;
  /** It began beside another attempt, which has ended since. */
  readonly speculative?: true;
}

/** A task that takes far longer than its siblings has a second attempt beside the first: see `straggler/` (I23). */
export interface SecondClaimed {
  readonly kind: 'SecondClaimed';
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly attemptNo: AttemptNo;
  readonly fence: Fence;
  readonly workerId: WorkerId;
  /** It is in the notes of the task, and nowhere else. */
  readonly notes: string;
  readonly at: Instant;
}

/** The second attempt never began; the first goes on (I26). */
export interface SecondReturned {
  readonly kind: 'SecondReturned';
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly fence: Fence;
  readonly reason: ReturnReason;
  readonly notes: string;
  readonly at: Instant;
}

/** The second attempt has ended, and decides nothing: the first goes on, or ends with the change that follows. */
export interface SecondEnded {
  readonly kind: 'SecondEnded';
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly attemptNo: AttemptNo;
  readonly fence: Fence;
  readonly workerId: WorkerId;
  readonly outcome: AttemptOutcome;
  readonly claimedAt: Instant;
  readonly startedAt: Instant | null;
  readonly endedAt: Instant;
  readonly error: string | null;
  readonly code: string | null;
  readonly notes: string;
}

/** The first attempt has ended, and decides nothing: what was the second is the task's running attempt from here on. */
export interface SecondTookOver extends Omit<SecondEnded, 'kind'> {
  readonly kind: 'SecondTookOver';
  /** What has ended had once taken over itself. */
  readonly speculative?: true;
  readonly next: {
    readonly attemptNo: AttemptNo;
    readonly fence: Fence;
    readonly workerId: WorkerId;
    readonly claimedAt: Instant;
  };
}

/**
 * Somebody wants another attempt of a task that has ended, or waits for its next one (I32). Older attempts stay as they were,
 * their tokens stay void, and so does its output (I36); tasks that were decided because of it wait for it again.
 */
export interface TaskCleared {
  readonly kind: 'TaskCleared';
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  /** Its newest attempt, which has ended. */
  readonly attemptNo: AttemptNo;
  readonly fence: Fence;
  /** What its row said. `cancelled`: stopped, with its run or by hand, while it ran; `stopped`: cancelled by itself. */
  readonly from: ClearedFrom;
  /** Attempts up to this one count against no budget any more (I39). */
  readonly freshBudget: boolean;
  /** Another one follows that the same hand has cleared: what is behind them is decided with the last, once for all. */
  readonly more: boolean;
  readonly actor: Actor;
  readonly at: Instant;
  /** As in `AttemptClaimed`. */
  readonly notes?: string;
}

export type ClearedFrom = 'succeeded' | 'failed' | 'retrying' | 'cancelled' | 'skipped' | 'stopped' | 'expired';

/**
 * Somebody says what has become of a task, whatever it was, and whether or not it ever had an attempt (I32). From here on it has
 * a row, and no attempt that runs; those behind it are decided anew.
 */
export interface TaskMarked {
  readonly kind: 'TaskMarked';
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  /** Its newest attempt, which has ended; 0 when there was none. */
  readonly attemptNo: AttemptNo;
  /** A number of its own, as a claim has one: all older tokens are void. */
  readonly fence: Fence;
  /** No row of the task exists yet. */
  readonly firstOfTask: boolean;
  /** The run had no row of a task before: its `live_run` row is marked, so that a load asks for them. */
  readonly firstOfRun: boolean;
  readonly state: Mark;
  /** What it is to have returned. */
  readonly output: string | null;
  readonly facts: string | null;
  /** Why, in the words of whoever did it. */
  readonly reason: string | null;
  readonly actor: Actor;
  readonly at: Instant;
}

/** Nothing new of a run, or of one of its tasks, is claimed; or it is again. What runs goes on, and so does time (I47). */
export interface PauseSet {
  readonly kind: 'PauseSet';
  readonly runId: RunId;
  /** Null: all of them. */
  readonly taskNo: TaskNo | null;
  readonly paused: boolean;
  /** When it goes on by itself; null when somebody must say so. */
  readonly until: Instant | null;
  readonly actor: Actor;
  readonly at: Instant;
}

/**
 * The task waits for a slot, and may not wait for ever: since when is stored in its notes. `isNew`: it gets its row by this,
 * before its first claim; such a row says no more than that, as one that was cleared.
 */
export interface TaskQueued {
  readonly kind: 'TaskQueued';
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly isNew: boolean;
  readonly notes: string;
  readonly at: Instant;
}

/** It has failed while no attempt of it ran: it waited in its queue, or took in all, for longer than it may (I41). */
export interface TaskExpired {
  readonly kind: 'TaskExpired';
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  /** Its newest attempt that began; 0 when there was none. */
  readonly attemptNo: AttemptNo;
  readonly reason: 'queue' | 'total';
  readonly notes: string;
  readonly at: Instant;
}

/** Its running attempt takes longer than usual. Told once for an attempt. */
export interface TaskSlow {
  readonly kind: 'TaskSlow';
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly attemptNo: AttemptNo;
  readonly fence: Fence;
  readonly notes: string;
  readonly at: Instant;
}

/** The running attempt has asked for more time, and got it. */
export interface AttemptExtended {
  readonly kind: 'AttemptExtended';
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly attemptNo: AttemptNo;
  readonly fence: Fence;
  readonly deadlineAt: Instant;
  readonly notes: string;
  readonly at: Instant;
}

/** The run takes longer than usual. Told once. */
export interface RunSlow {
  readonly kind: 'RunSlow';
  readonly runId: RunId;
  /** What is kept of the run from here on, as JSON: see `tables/timer/run-timers.ts`. */
  readonly notes: string;
  readonly at: Instant;
}

/** The run took longer than it may; that it closes as failed comes next. */
export interface RunTimedOut {
  readonly kind: 'RunTimedOut';
  readonly runId: RunId;
  readonly notes: string;
  readonly at: Instant;
}

/** A run that had ended goes on: one of its tasks is to be tried again (I32, I33). */
export interface RunReopened {
  readonly kind: 'RunReopened';
  readonly runId: RunId;
  /** False while the dag has as many active runs as it may (I7). */
  readonly admitted: boolean;
  /** The how manieth time its own policy asked for it; 0 when a person did. */
  readonly retryNo: number;
  /** Its outcome stays: only tasks that close it are to run again. */
  readonly asClosing?: true;
  /** All that is kept of the run from here on; nothing where it is absent, what it was where its outcome stays. */
  readonly notes?: string;
  readonly actor: Actor;
  readonly at: Instant;
}

/**
 * User code asked for its progress to be kept: the next attempt of the task gets it. A number of its own for each, which grows
 * within an attempt: one that is late is told from one that is new.
 */
export interface CheckpointSaved {
  readonly kind: 'CheckpointSaved';
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly fence: Fence;
  readonly no: number;
  /** JSON. Like outputs it goes to the store alone. */
  readonly value: string;
  readonly at: Instant;
}

/**
 * An attempt asked whether the task is still its own, and it was. Nothing changes by it: it is there so that the answer rests on
 * a commit, which an owner that lost its shard can't make (I14).
 */
export interface ClaimAsserted {
  readonly kind: 'ClaimAsserted';
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly fence: Fence;
  readonly at: Instant;
}

/**
 * An attempt has added tasks to its run, all at once; or has named again, or otherwise, such as an attempt before it had added and
 * that have not begun. From here on the run has them.
 */
export interface TasksAdded {
  readonly kind: 'TasksAdded';
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly fence: Fence;
  readonly tasks: readonly AddedTask[];
  readonly at: Instant;
}

/** An attempt has succeeded that did not name these, which an attempt before it had added: they are skipped. */
export interface TasksDropped {
  readonly kind: 'TasksDropped';
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly fence: Fence;
  readonly tasks: readonly AddedTask[];
  readonly at: Instant;
}

/**
 * A map has so many instances from here on, once (I34): numbered from `firstNo` on, instance by instance. `scope` is where: the
 * number of the first task of the instance around it, or null for the run itself. None at all: the run would have too many tasks.
 */
export interface MapExpanded {
  readonly kind: 'MapExpanded';
  readonly runId: RunId;
  readonly group: number;
  readonly scope: number | null;
  readonly firstNo: number;
  readonly total: number;
  readonly at: Instant;
}

/** Instances up to this one, without it, are there: a large map comes in parts. */
export interface MapUnfolded {
  readonly kind: 'MapUnfolded';
  readonly runId: RunId;
  /** Of its expansion. */
  readonly firstNo: number;
  readonly until: number;
  readonly at: Instant;
}

/**
 * What the map ran over is to come anew: its instances, and what expanded in them, are no longer part of the run. Their rows stay
 * to be read, their numbers are not used again.
 */
export interface MapRemoved {
  readonly kind: 'MapRemoved';
  readonly runId: RunId;
  readonly firstNo: number;
  readonly actor: Actor;
  readonly at: Instant;
}

/** The run's outcome is fixed; its ordinary tasks that still run are being ended, and those run that close it (I33, I42). */
export interface RunClosing {
  readonly kind: 'RunClosing';
  readonly runId: RunId;
  readonly outcome: RunOutcome;
  /** What its running attempts are given to stop, where that is not the usual. */
  readonly graceMs?: number;
  readonly actor: Actor;
  readonly at: Instant;
}

/** Somebody does not want to wait for what closes the run: those tasks are being ended too (I42). */
export interface RunForced {
  readonly kind: 'RunForced';
  readonly runId: RunId;
  readonly actor: Actor;
  readonly at: Instant;
}

/** Somebody wants to be told that the run has ended: goes with `RunEnded` (I61). Called by whoever finds it stored. */
export interface CallbackDue {
  readonly kind: 'CallbackDue';
  readonly runId: RunId;
  readonly uid: RunUid;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  readonly url: string;
  readonly outcome: RunOutcome;
  readonly at: Instant;
}

export interface RunEnded {
  readonly kind: 'RunEnded';
  readonly runId: RunId;
  readonly outcome: RunOutcome;
  readonly at: Instant;
}

/** A decision about this run threw. With the second strike it is set aside: kept, shown, not touched again (I57). */
export interface RunStruck {
  readonly kind: 'RunStruck';
  readonly runId: RunId;
  readonly strikes: number;
  readonly setAside: boolean;
  readonly reason: string;
  readonly at: Instant;
}

/** At takeover this worker was silent; stored once, so that handovers do not give it more time (D5, I25). */
export interface WorkerSilenced {
  readonly kind: 'WorkerSilenced';
  readonly shard: ShardNo;
  readonly workerId: WorkerId;
}

export interface WorkerHeardAgain {
  readonly kind: 'WorkerHeardAgain';
  readonly shard: ShardNo;
  readonly workerId: WorkerId;
}

export type Change =
  | DagDeployed
  | DagRetired
  | DagRevived
  | ScheduleSet
  | ScheduleRemoved
  | WindowDecided
  | RunCreated
  | RunAdmitted
  | KeyStored
  | AttemptClaimed
  | ClaimReturned
  | AttemptEnded
  | SecondClaimed
  | SecondReturned
  | SecondEnded
  | SecondTookOver
  | TaskCleared
  | TaskQueued
  | TaskExpired
  | TaskSlow
  | AttemptExtended
  | RunSlow
  | RunTimedOut
  | CheckpointSaved
  | ClaimAsserted
  | TasksAdded
  | TasksDropped
  | MapExpanded
  | MapUnfolded
  | MapRemoved
  | TaskMarked
  | PauseSet
  | RunReopened
  | DeadLetterWritten
  | DeadLetterClosed
  | BreakerSet
  | RunClosing
  | RunForced
  | RunEnded
  | CallbackDue
  | RunStruck
  | WorkerSilenced
  | WorkerHeardAgain;
