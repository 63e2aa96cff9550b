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
/** The classes that a retry policy may speak of. `lost` has `maxLost`; `cancelled` is for whoever stopped it. */
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

/** What a person may say has become of a task. */
export const MARKS = ['succeeded', 'failed', 'skipped', 'cancelled'] as const;
export type Mark = (typeof MARKS)[number];
