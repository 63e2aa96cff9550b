/**
 * Moves of tasks that are decided like any other but not stored. `apply` makes them too, so nothing else moves a task.
 *
 * They are not in the journal because a load decides them again: a retry is loaded as *retrying*, with the rest of its
 * backoff, and meets its breaker and the budget of its node again.
 */
import type { RunId, TaskNo } from './ids.ts';

/** The backoff is over, and no breaker or budget holds the retry: retrying → ready. */
export interface RetryReleased {
  readonly kind: 'RetryReleased';
  readonly runId: RunId;
  readonly taskNo: TaskNo;
}

/** A task was ready when the breaker of its last failure opened, and waits behind it: ready → retrying. */
export interface RetryHeld {
  readonly kind: 'RetryHeld';
  readonly runId: RunId;
  readonly taskNo: TaskNo;
}

/** In the copy of a run that a preview is played on: the task is taken to succeed. */
export interface SuccessAssumed {
  readonly kind: 'SuccessAssumed';
  readonly runId: RunId;
  readonly taskNo: TaskNo;
}

export type UnstoredChange = RetryReleased | RetryHeld | SuccessAssumed;
