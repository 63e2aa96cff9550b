/** How an attempt ends, and what people see of a task. */

/** `lost` and `timed_out` are the server's own verdicts; the others come with a report. */
export const ATTEMPT_OUTCOMES = ['succeeded', 'failed', 'permanent', 'timed_out', 'lost', 'cancelled'] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** What a report may say. */
export type ReportedOutcome = Exclude<AttemptOutcome, 'lost'>;

/** Against which budget of the task's retry policy an attempt counts that ended so; null: the task ends with it (I39). */
export const BUDGET_OF = {
  succeeded: null,
  failed: 'maxAttempts',
  permanent: null,
  timed_out: 'maxAttempts',
  lost: 'maxLost',
  cancelled: 'maxAttempts',
} as const satisfies Record<AttemptOutcome, 'maxAttempts' | 'maxLost' | null>;

export const TASK_STATES = [
  'blocked',
  'ready',
  'running',
  'retrying',
  'waiting',
  'succeeded',
  'failed',
  'upstream_failed',
  'skipped',
  'removed',
  'cancelled',
] as const;
/** The states that people see. */
export type TaskState = (typeof TASK_STATES)[number];

export type TaskOutcome = 'succeeded' | 'failed' | 'upstream_failed' | 'skipped' | 'removed' | 'cancelled';

const TERMINAL: ReadonlySet<TaskState> = new Set<TaskState>([
  'succeeded',
  'failed',
  'upstream_failed',
  'skipped',
  'removed',
  'cancelled',
]);

export function isTerminal(state: TaskState): state is TaskOutcome {
  return TERMINAL.has(state);
}
