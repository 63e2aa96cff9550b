import type { DeadLetterReason, DeadLetterState } from './dead-letter.ts';
import type { Actor, AttemptNo, DagId, Instant, RunId, RunUid, TaskNo, TenantId, VersionNo } from './ids.ts';
import type { Fingerprint } from './task/fingerprint.ts';
import type { AttemptOutcome } from './task/outcome.ts';

/**
 * A task has failed for good, and a person may want to know of it (I43). In the same commit as the end of its last attempt.
 * Like other texts of users the error is not in the journal.
 */
export interface DeadLetterWritten {
  readonly kind: 'DeadLetterWritten';
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  /** The task's last attempt: how many it had. */
  readonly attemptNo: AttemptNo;
  readonly uid: RunUid;
  readonly taskName: string;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  readonly versionNo: VersionNo;
  readonly reason: DeadLetterReason;
  readonly outcome: AttemptOutcome;
  readonly code: string | null;
  readonly fingerprint: Fingerprint;
  /** The first line. */
  readonly error: string | null;
  readonly at: Instant;
}

/** Somebody discarded a dead letter, or replayed it as a new run, or it expired. `TaskCleared` closes the dead letter of its task too. */
export interface DeadLetterClosed {
  readonly kind: 'DeadLetterClosed';
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly attemptNo: AttemptNo;
  readonly as: Exclude<DeadLetterState, 'open'>;
  /** The run that was made of it. */
  readonly newUid: RunUid | null;
  readonly actor: Actor;
  readonly at: Instant;
}
