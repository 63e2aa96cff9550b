/** What helps, for each reason why a task waits. Null: it ends by itself, or nobody can do anything about it. */
import type { TaskWhy, WhyCode } from '@signalbox/protocol';

interface Subject {
  readonly run: string;
  readonly dag: string;
  readonly task: string;
  readonly queue: string;
  readonly message: string;
}

type Suggestion = (subject: Subject) => string | null;

/** The first name in quotes: that of the pool or queue. */
const quoted = (message: string): string => /"([^"]+)"/.exec(message)?.[1] ?? '';
const nothing: Suggestion = () => null;

const SUGGESTIONS: Readonly<Record<WhyCode, Suggestion>> = {
  run_scheduled: ({ run }) => `Cancel it and submit it again to start it now: signalbox runs cancel ${run}`,
  run_queued: ({ dag }) =>
    `Raise maxActiveRuns of dag ${dag}, or cancel a run: signalbox runs list --dag ${dag} --state open`,
  run_key: ({ dag }) => `Wait, or raise "limit" under concurrency of dag ${dag}.`,
  requires: ({ dag }) => `See what the dags that it requires do: signalbox dags show ${dag}`,
  run_paused: ({ run }) => `Resume it: signalbox runs resume ${run}`,
  frozen: () => 'See who froze it, and thaw it: signalbox freezes',
  halted: ({ dag }) => `Fix what creates so many tasks, then let the dag go on: signalbox thaw dag:${dag}`,
  suspended: () => 'Ask the administrators of the installation to resume the tenant.',
  loading: nothing,
  set_aside: ({ run }) => `Report a bug with the output of: signalbox runs show ${run} --json`,
  task_paused: ({ run, task }) => `Resume it: signalbox tasks resume ${run} ${task}`,
  upstream: nothing,
  past: ({ message }) => {
    const run = /run ([0-9a-f-]{36})/.exec(message)?.[1];
    return run === undefined ? null : `See why that run did not succeed: signalbox runs show ${run}`;
  },
  closing: nothing,
  retry: ({ run, task }) => `Start the next attempt now: signalbox runs retry ${run} ${task}`,
  breaker: ({ dag }) => `Fix the cause, then let the tasks go: signalbox breakers reset ${dag}`,
  pool_missing: ({ message }) => `Set the pool: signalbox limits set pool:${quoted(message)} <slots>`,
  pool_too_small: ({ message }) => `Give the pool more slots: signalbox limits set pool:${quoted(message)} <slots>`,
  pool_full: ({ message }) => `See who has the slots: signalbox limits show pool:${quoted(message)}`,
  cap_full: () => 'See the caps, and who has their slots: signalbox limits',
  reserved: () => 'Add workers, or see what is reserved, and delete it: signalbox reservations',
  position: ({ run }) => `Let the run go first: signalbox runs set-priority ${run} --to high`,
  no_worker: ({ queue }) => `Start a worker for the queue: signalbox worker --queues ${queue}`,
  no_worker_fits: () =>
    'Ask for less, or start a worker that offers it: signalbox worker --resources <amounts> --labels <labels>',
  no_room: () => 'Wait, add workers of this kind, or ask for less. See what is free: signalbox workers',
  gang: () => 'Wait, or add workers of this kind. See what is free: signalbox workers',
  workers_busy: () => 'Add workers, or slots to workers.',
  rate: ({ dag, message }) =>
    /^(The dag|Task) /.test(message)
      ? `Wait, or raise "limit" of the rate in dag ${dag}.`
      : 'Wait, or raise the rate: signalbox limits',
  task_limit: ({ task }) => `Raise maxActive of task ${task}.`,
  run_limit: ({ dag }) => `Raise maxActiveTasksPerRun of dag ${dag}.`,
  limit: ({ dag }) => `Raise maxActiveTasks of dag ${dag}.`,
  child: ({ message }) => {
    const run = /run ([0-9a-f-]{36})/.exec(message)?.[1];
    return run === undefined ? null : `See why that run goes on or not: signalbox why ${run}`;
  },
  skipped: ({ run, task }) => `Run it after all: signalbox tasks clear ${run} ${task}`,
  upstream_failed: ({ run }) => `Retry what failed: signalbox runs retry ${run}`,
  given_up: ({ run, task }) => `Fix the cause and retry it: signalbox runs retry ${run} ${task}`,
};

/** For the innermost reason that somebody can do something about. */
export function suggestionFor(
  chain: TaskWhy['chain'],
  { run, dag, queueOf: queue }: { readonly run: string; readonly dag: string; readonly queueOf: string },
): string | null {
  for (const { code, message, task } of chain.toReversed()) {
    const found = SUGGESTIONS[code]({ run, dag, task, queue, message });
    if (found !== null) return found;
  }
  return null;
}
