/** How an attempt ends, and what people see of a task. */

/** `lost` and `timed_out` are the server's own verdicts; the others come with a report. */
export const ATTEMPT_OUTCOMES = ['succeeded', 'failed', 'permanent', 'timed_out', 'lost', 'cancelled'] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** What a report may say. */
export type ReportedOutcome = Exclude<AttemptOutcome, 'lost'>;

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
