/** Small dags for tests. Every field has a neutral value unless a test is about it. */
import type { DagSpec, RetryPolicy, ScheduleSpec, TaskSpec } from '../model/dag/spec.ts';
import type { QueueName } from '../model/ids.ts';

export const NO_RETRY: RetryPolicy = { maxAttempts: 1, minMs: 0, baseMs: 1_000, factor: 2, maxMs: 60_000, maxLost: 3 };

export type TaskOptions = Partial<Omit<TaskSpec, 'name' | 'needs' | 'queue' | 'retry'>> & {
  readonly queue?: string;
  readonly retry?: Partial<RetryPolicy>;
};

export function task(name: string, needs: readonly number[] = [], options: TaskOptions = {}): TaskSpec {
  const { handler = name, queue = 'default', retry = {}, timeoutMs = null, ...more } = options;
  return { name, handler, queue: queue as QueueName, needs, retry: { ...NO_RETRY, ...retry }, timeoutMs, ...more };
}

export function dag(tasks: readonly TaskSpec[], options: Partial<Omit<DagSpec, 'tasks'>> = {}): DagSpec {
  return { tasks, priority: 'normal', maxActiveRuns: null, maxActiveTasks: null, schedule: null, ...options };
}

/** Each task needs the one before it. */
export function chain(...names: readonly string[]): DagSpec {
  return dag(names.map((name, no) => task(name, no === 0 ? [] : [no - 1])));
}

/** One task. */
export function job(options: TaskOptions & Partial<Omit<DagSpec, 'tasks'>> = {}): DagSpec {
  const { priority = 'normal', maxActiveRuns = null, maxActiveTasks = null, schedule = null, ...rest } = options;
  const breaker = options.breaker === undefined ? {} : { breaker: options.breaker };
  return dag([task('job', [], rest)], { priority, maxActiveRuns, maxActiveTasks, schedule, ...breaker });
}

/** One task, `width` that need it, and one that needs them all. */
export function fan(width: number): DagSpec {
  const middle = Array.from({ length: width }, (_, i) => i + 1);
  return dag([task('first'), ...middle.map((no) => task(`middle-${no}`, [0])), task('last', middle)]);
}

export function every(cron: string, options: Partial<ScheduleSpec> = {}): ScheduleSpec {
  return { cron, zone: 'UTC', gap: 'skip', missed: 'latest', missedLimit: 10, ...options };
}

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
export type Span = `${number}${keyof typeof UNITS}`;

/** `6s`, `250ms`, `1.5h` */
export function spanMs(span: Span): number {
  const [, count, unit] = /^(-?[\d.]+)(ms|s|m|h|d)$/.exec(span)!;
  return Number(count) * UNITS[unit as keyof typeof UNITS];
}
