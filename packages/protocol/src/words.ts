/** The fixed lists of words of the API, apart from their schemas: who only shows or completes them need not load a parser. */

export const PRIORITIES = ['critical', 'high', 'normal', 'low'] as const;

/**
 * `scheduled`: a delayed run that has not begun. `queued`: created, but its dag has as many active runs as it may.
 * `set_aside`: a fault of ours; a person must look.
 */
export const RUN_STATES = ['queued', 'open', 'closing', 'ended', 'set_aside', 'scheduled'] as const;
/** `scheduled` and `paused` also for a job that runs again and again; the others for one that runs once. */
export const JOB_STATES = ['scheduled', 'paused', 'queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;
export const RUN_OUTCOMES = ['succeeded', 'failed', 'cancelled'] as const;

/** What a task is to its run: `task` for an ordinary one; the others close the run, and do not decide it. */
export const TASK_ROLES = ['task', 'teardown', 'undo', 'hook'] as const;

/** What may happen to a task or a run, and the words for it in a definition, in names of tasks and for the hook itself. */
export const HOOK_EVENTS = [
  { on: 'before', field: 'before', suffix: 'before' },
  { on: 'after', field: 'after', suffix: 'after' },
  { on: 'success', field: 'onSuccess', suffix: 'on_success' },
  { on: 'failure', field: 'onFailure', suffix: 'on_failure' },
  { on: 'retry', field: 'onRetry', suffix: 'on_retry' },
  { on: 'slow', field: 'onSlow', suffix: 'on_slow' },
] as const;

/** Why a task was given up, and what became of its dead letter. */
export const DEAD_LETTER_REASONS = ['retries', 'permanent', 'poison', 'lost', 'timeout'] as const;
export const DEAD_LETTER_STATES = ['open', 'replayed', 'discarded', 'expired'] as const;

/** States of a callback. */
export const CALLBACK_STATES = ['waiting', 'done', 'given_up'] as const;

/** How a webhook proves who calls it. */
export const WEBHOOK_SCHEMES = ['standard', 'github', 'stripe', 'token'] as const;

/** What the quotas of a tenant are of, and how much is used: see `rest/quotas.ts`. */
export const QUOTAS = ['submits', 'deploys', 'runs', 'tasks', 'failures', 'fanout'] as const;
/** What each is of, for people. */
export const QUOTA_MEANINGS: Readonly<Record<(typeof QUOTAS)[number], string>> = {
  submits: 'runs submitted per minute',
  deploys: 'versions deployed per hour',
  runs: 'runs per dag and day',
  tasks: 'tasks at the same time',
  failures: 'failed tasks per hour',
  fanout: 'tasks that a dag creates per minute',
};
export const QUOTA_LEVELS = ['under', 'soft', 'hard'] as const;
export const TENANT_STATES = ['active', 'suspended', 'deleted'] as const;

export const ROLES = ['admin', 'operator', 'viewer', 'worker'] as const;

export const EVENT_KINDS = [
  'dag.deployed',
  'dag.retired',
  'schedule.set',
  'schedule.removed',
  'backfill.started',
  'backfill.set',
  'window.skipped',
  'run.created',
  'run.admitted',
  'run.yielded',
  'run.reopened',
  'run.closing',
  'run.forced',
  'run.ended',
  'run.set_aside',
  'attempt.claimed',
  'attempt.returned',
  'attempt.ended',
  'task.cleared',
  'task.marked',
  'task.paused',
  'task.resumed',
  'run.paused',
  'run.priority_set',
  'run.resumed',
  'map.expanded',
  'map.removed',
  'tasks.added',
  'tasks.dropped',
  'dead_letter.written',
  'dead_letter.closed',
  'breaker.set',
  'trigger.fired',
  'asset.produced',
  'limit.set',
  'quota.set',
  'quota.level',
  'dag.halted',
  'dag.resumed',
  'budget.crossed',
  'event.missing',
  'task.expired',
  'task.slow',
  'attempt.extended',
  'run.slow',
  'run.timed_out',
  // Stands for a commit that this server can't read.
  'events.skipped',
] as const;

/** Why a task or a run does not go on, or never ran. */
export const WHY_CODES = [
  'run_scheduled',
  'run_queued',
  'run_key',
  'requires',
  'run_paused',
  'frozen',
  'halted',
  'suspended',
  'loading',
  'set_aside',
  'task_paused',
  'upstream',
  'past',
  'closing',
  'retry',
  'breaker',
  'pool_missing',
  'pool_too_small',
  'pool_full',
  'cap_full',
  'reserved',
  'position',
  'no_worker',
  'no_worker_fits',
  'no_room',
  'gang',
  'workers_busy',
  'rate',
  'task_limit',
  'run_limit',
  'limit',
  'child',
  'skipped',
  'upstream_failed',
  'given_up',
] as const;

/** What happens to workers: what servers see, and what people ask for. */
export const WORKER_EVENTS = [
  'registered',
  'returned',
  'draining',
  'left',
  'disconnected',
  'lost',
  'clock_wrong',
  'clock_right',
  'drain_asked',
  'evict_asked',
  'cordoned',
  'uncordoned',
] as const;

export { shownAmount, shownBytes } from './placement.ts';
export * from './task-states.ts';

/** The queues of a worker, with their weights if it has any: `high=4, default=4, batch=2`. */
export function shownQueues(worker: {
  readonly queues: readonly string[];
  readonly queueWeights?: Readonly<Record<string, number>> | undefined;
}): string {
  const { queues, queueWeights } = worker;
  return queues.map((name) => (queueWeights === undefined ? name : `${name}=${queueWeights[name] ?? 1}`)).join(', ');
}
