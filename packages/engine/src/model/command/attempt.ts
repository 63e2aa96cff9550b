/** Messages and requests of a worker about one attempt. */
import type { AttemptNo, Fence, Instant, RunId, TaskNo, WorkerId } from '../ids.ts';
import type { ReadFacts } from '../task/facts.ts';
import type { ReportedOutcome } from '../task/outcome.ts';

/** Names one claim. The token that proves it has been checked at the edge: here only the number counts (D8). */
export interface ClaimRef {
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly attemptNo: AttemptNo;
  readonly fence: Fence;
}

/** What an attempt has used, as far as its worker could measure it. */
export interface Usage {
  /** Time of the processor. */
  readonly cpuMs: number | null;
  /** The most memory that it had at a time. */
  readonly peakBytes: number | null;
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
  /** Null: not measured. */
  readonly used?: Usage | null;
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
