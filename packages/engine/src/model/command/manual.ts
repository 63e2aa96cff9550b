/** Manual actions on tasks of a run, dead letters and breakers. */
import type { Priority } from '../dag/spec.ts';
import type { DeadLetterRef } from '../dead-letter.ts';
import type { Actor, DagId, RunId, ShardNo, TaskNo, TenantId } from '../ids.ts';
import type { Fingerprint } from '../task/fingerprint.ts';
import type { Mark } from '../task/outcome.ts';
import type { TaskState } from '../task/task-states.ts';

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

/** The options that all manual actions have. */
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

/** Sets the state of tasks. */
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

/** The run goes before others from here on, or after them. */
export interface SetPriority {
  readonly kind: 'SetPriority';
  readonly tenantId: TenantId;
  readonly runId: RunId;
  readonly priority: Priority;
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
