/** The words of dead letters, and how one is identified. */
import type { AttemptNo, Instant, RunId, TaskNo } from './ids.ts';

/** Why the task was given up. */
export const DEAD_LETTER_REASONS = ['retries', 'permanent', 'poison', 'lost', 'timeout'] as const;
export type DeadLetterReason = (typeof DEAD_LETTER_REASONS)[number];
export const DEAD_LETTER_STATES = ['open', 'replayed', 'discarded', 'expired'] as const;
export type DeadLetterState = (typeof DEAD_LETTER_STATES)[number];

/** Names a dead letter: the attempt that was the task's last. */
export interface DeadLetterRef {
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly attemptNo: AttemptNo;
}

export function deadLetterName({ runId, taskNo, attemptNo }: DeadLetterRef): string {
  return `${runId}/${taskNo}/${attemptNo}`;
}

/** Failures at once in a row, and when the first of them was: stored with the task, so that a load decides the same. */
export interface QuickFailures {
  readonly count: number;
  readonly since: Instant;
}
