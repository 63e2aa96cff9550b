/** How an attempt ends, and the task states that people see. */

/**
 * The classes. `lost`, `timeout` and `stuck` may be the server's own verdict; the others come with a report. A worker says `lost`
 * of an attempt that stopped because no server was heard.
 */
export const ATTEMPT_OUTCOMES = [
  'succeeded',
  'transient',
  'permanent',
  'timeout',
  'lost',
  'cancelled',
  'resource',
  'stuck',
] as const;

export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** Codes of attempts that ended as `lost` because they were told to: they cost no retry, and run again from their checkpoint. */
export const PREEMPTED = 'preempted';
export const EVICTED = 'evicted';
/** The same of an attempt that was stopped because another member of its gang ended the try. */
export const GANG = 'gang';
/** The classes that a retry policy can name. `lost` has its own `maxLost`, and `cancelled` is never retried by a policy. */
export const FAILURE_CLASSES = ['transient', 'permanent', 'timeout', 'stuck', 'resource'] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];
/** What a report may say. */
export type ReportedOutcome = AttemptOutcome;

/** Against which budget of the task's retry policy an attempt counts that ended so; null: the task ends with it (I39). */
export const BUDGET_OF = {
  succeeded: null,
  transient: 'maxAttempts',
  permanent: null,
  timeout: 'maxAttempts',
  lost: 'maxLost',
  cancelled: 'maxAttempts',
  resource: 'maxAttempts',
  stuck: 'maxAttempts',
} as const satisfies Record<AttemptOutcome, 'maxAttempts' | 'maxLost' | null>;

/** The states that a person can mark a task with. */
export const MARKS = ['succeeded', 'failed', 'skipped', 'cancelled'] as const;
export type Mark = (typeof MARKS)[number];
