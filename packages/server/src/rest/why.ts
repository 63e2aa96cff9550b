/**
 * Why a task does not run, for people and programs. It uses only what a reader has at hand: the view of the run and the
 * connected workers. The checks have the order in which a task would be held: first the run, then the task, then its queue.
 */
import type { RunSummary, TaskView, Why, WhyCode } from '@signalbox/protocol';
import { fromIso } from '../iso-instants.ts';

/** What workers there are for each queue; null when nobody could be asked, so that nothing is claimed about them. */
export interface QueueFacts {
  slotsOf(queue: string): { readonly slots: number; readonly running: number } | null;
}

export interface RunFacts {
  readonly state: RunSummary['state'];
  readonly paused: TaskView['paused'];
  readonly setAsideReason: string | null;
  /** Dags that its window requires, while it waits for them, and until when. */
  readonly requires?: { readonly of: readonly string[]; readonly until: string };
  readonly maxActiveRuns: number | null;
  readonly maxActiveTasks: number | null;
  readonly queues: QueueFacts | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface TaskFacts {
  readonly queue: string;
  /** The tasks that it needs and that have not ended, with their states. */
  readonly unmet: readonly { readonly name: string; readonly state: string }[];
  /** It waits for the same task of an earlier window: the run of that, null while it is being looked for; absent: it does not. */
  readonly past?: { readonly run: string | null; readonly at: string | null; readonly downstream: boolean };
}

const because = (code: WhyCode, message: string, until: string | null = null): Why => ({ code, message, until });

/** Null while the task runs, and when there is nothing to explain. */
export function whyOf(task: TaskView, of: TaskFacts, run: RunFacts): Why | null {
  switch (task.state) {
    case 'skipped':
      return task.reason === null ? null : because('skipped', task.reason);
    case 'upstream_failed':
      return because('upstream_failed', task.reason ?? 'A task that it needs did not succeed.');
    case 'failed':
      return task.deadLetter === null ? null : because('given_up', GIVEN_UP[task.deadLetter](task));
    case 'waiting':
      return task.child?.run == null
        ? null
        : because('child', `Waits for run ${task.child.run} of dag ${task.child.dag}.`);
    case 'blocked':
      return whyNoneStarts(task, run) ?? whyBlocked(task, of);
    case 'ready':
    case 'retrying':
      return whyNoneStarts(task, run) ?? whyNotClaimed(task, of, run);
    case 'expanded': {
      const { ready = 0, running = 0 } = task.instances?.states ?? {};
      return ready === 0 || running > 0 ? null : (whyNoneStarts(task, run) ?? whyNotClaimed(task, of, run));
    }
    default:
      return null;
  }
}

const GIVEN_UP: Readonly<Record<NonNullable<TaskView['deadLetter']>, (task: TaskView) => string>> = {
  retries: ({ attempt }) => `Gave up after ${attempt} ${attempt === 1 ? 'attempt' : 'attempts'}: no retries are left.`,
  permanent: () => 'Gave up: the error is permanent, so it was not retried.',
  poison: ({ attempt }) => `Gave up as poison: ${attempt} attempts failed at once with the same error.`,
  lost: () => 'Gave up: too many attempts were lost with their workers.',
  timeout: () => 'Gave up: its timeout passed.',
};

/** What holds the whole run, or this task, whatever it waits for. */
function whyNoneStarts(task: TaskView, run: RunFacts): Why | null {
  const own = whyRun(run);
  if (own !== null) return own;
  if (task.paused === null) return null;
  const { by, since, until } = task.paused;
  return because('task_paused', `The task is paused, by ${by} since ${since}.`, until);
}

/** What holds all tasks of a run. */
function whyRun(run: RunFacts): Why | null {
  if (run.state === 'set_aside') {
    return because('set_aside', `The run is set aside after an internal error: ${run.setAsideReason ?? 'unknown'}.`);
  }
  if (run.state === 'queued' && run.requires !== undefined) {
    const { of, until } = run.requires;
    return because('requires', `Waits until what the schedule requires is met: ${of.join(', ')}.`, until);
  }
  if (run.state === 'queued') {
    const limit = run.maxActiveRuns === null ? '' : ` (maxActiveRuns: ${run.maxActiveRuns})`;
    return because('run_queued', `Waits for another run of the dag to end${limit}.`);
  }
  if (run.paused !== null && run.state !== 'ended') {
    return because('run_paused', `The run is paused, by ${run.paused.by} since ${run.paused.since}.`, run.paused.until);
  }
  return null;
}

const NAMES_SHOWN = 3;

function whyBlocked(task: TaskView, { unmet }: TaskFacts): Why | null {
  if (unmet.length === 0) return task.role === 'task' ? null : because('closing', 'Runs when the run closes.');
  const names = unmet.slice(0, NAMES_SHOWN).map(({ name, state }) => `${name} (${state})`);
  const more = unmet.length > NAMES_SHOWN ? ` and ${unmet.length - NAMES_SHOWN} more` : '';
  return because('upstream', `Waits for ${names.join(', ')}${more}.`);
}

function whyPast({ name }: TaskView, past: NonNullable<TaskFacts['past']>): Why {
  if (past.run === null)
    return because('past', 'Depends on the past: the run of the window before is being looked for.');
  const and = past.downstream ? ', and those directly downstream of it,' : '';
  return because(
    'past',
    `Waits until ${name}${and} of run ${past.run} (window ${past.at}) has succeeded or was skipped.`,
  );
}

function whyNotClaimed(task: TaskView, { queue, past }: TaskFacts, run: RunFacts): Why | null {
  if (past !== undefined) return whyPast(task, past);
  if (task.retryAt !== null && fromIso(task.retryAt) > run.now) {
    return because('retry', `Attempt ${task.attempt} failed; the next one starts at ${task.retryAt}.`, task.retryAt);
  }
  if (task.heldBy !== null) return because('breaker', `Held by the ${task.heldBy} until a probe succeeds.`);
  if (run.queues === null) return null;
  const workers = run.queues.slotsOf(queue);
  if (workers === null) return because('no_worker', `No worker serves queue "${queue}".`);
  if (workers.running >= workers.slots) {
    return because('workers_busy', `All ${workers.slots} slots for queue "${queue}" are in use.`);
  }
  if (run.maxActiveTasks === null) return null;
  return because('limit', `The dag runs at most ${run.maxActiveTasks} tasks at once (maxActiveTasks).`);
}

/** What a person would want to know first. */
const TELLING: readonly WhyCode[] = [
  'past',
  'no_worker',
  'breaker',
  'task_paused',
  'workers_busy',
  'limit',
  'retry',
  'child',
];

/** Why the run does not go on: its own reason, or, while nothing of it runs, that of the task that holds it. */
export function whyRunWaits(tasks: readonly TaskView[], run: RunFacts): Why | null {
  if (run.state === 'ended') return null;
  const own = whyRun(run);
  if (own !== null) return own;
  if (tasks.some(({ state, instances }) => state === 'running' || (instances?.states.running ?? 0) > 0)) return null;
  for (const code of TELLING) {
    const task = tasks.find(({ why }) => why?.code === code);
    if (task?.why != null) return { ...task.why, message: `Task ${task.name}: ${task.why.message}` };
  }
  return null;
}
