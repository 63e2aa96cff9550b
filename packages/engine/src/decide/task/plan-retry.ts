/** What follows an attempt that did not succeed: when the next one may start, and with which resources. */
import type { MemoryGrowth, RetryPolicy, TaskSpec } from '../../model/dag/spec.ts';
import { backoffMs } from '../../model/task/backoff.ts';
import type { TaskNotes } from '../../model/task/notes.ts';
import type { AttemptOutcome, FailureClass } from '../../model/task/outcome.ts';
import { type Failure, isRetryable } from '../../model/task/retry-rule.ts';

/** What a server may ask for in place of our own backoff, at most. */
const MAX_RETRY_AFTER_MS = 86_400_000;

interface FailedAttempt extends Failure {
  /** Ended attempts that count against `maxAttempts`, this one included, and those that were lost. */
  readonly failureCount: number;
  readonly lostCount: number;
  readonly counts: TaskNotes['counts'];
  readonly retryAfterMs: number | null;
  readonly chance: () => number;
}

/** Null when the task is not tried again. Each ended attempt counts once, against the budget of its class (I39). */
export function retryDelayMs(policy: RetryPolicy, failed: FailedAttempt): number | null {
  if (!isRetryable(policy, failed)) return null;
  // At once: it was not the task's fault, as far as anyone knows; the limit is for the task whose fault it is (I28).
  if (failed.outcome === 'lost') return failed.lostCount < policy.maxLost ? 0 : null;
  if (failed.failureCount >= policy.maxAttempts) return null;
  const budget = policy.budgets?.[failed.outcome as FailureClass];
  if (budget !== undefined && (failed.counts?.[failed.outcome] ?? 0) >= budget) return null;
  const ownMs = backoffMs(policy, failed.failureCount, failed.chance());
  return Math.max(ownMs, Math.min(failed.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));
}

/** Counted only where a class has a budget of its own. */
export function countEnd(policy: RetryPolicy, { counts }: TaskNotes, outcome: AttemptOutcome): TaskNotes['counts'] {
  if (policy.budgets?.[outcome as FailureClass] === undefined) return counts;
  return { ...counts, [outcome]: (counts?.[outcome] ?? 0) + 1 };
}

/** What the attempt asked for, or more by the factor; within what the task may have, and never less than it had. */
export function memoryAfter(task: TaskSpec, notes: TaskNotes, ended: AskedMemory): number | undefined {
  if (ended.outcome !== 'resource' || task.onResource === undefined) return notes.memoryBytes;
  const had = notes.memoryBytes ?? task.memoryBytes ?? 0;
  const next = Math.max(had, Math.min(wanted(task.onResource, had, ended.memoryBytes), task.onResource.maxBytes));
  return next === (task.memoryBytes ?? 0) ? undefined : next;
}

interface AskedMemory {
  readonly outcome: AttemptOutcome;
  readonly memoryBytes: number | null;
}

function wanted({ factor }: MemoryGrowth, had: number, asked: number | null): number {
  return asked !== null && asked > 0 ? asked : Math.ceil(had * factor);
}
