/** What a dag is, as the engine sees it: tasks by number, edges by number, nothing of user code but a handler's name. */
import type { QueueName } from '../ids.ts';

export const PRIORITIES = ['critical', 'high', 'normal', 'low'] as const;
export type Priority = (typeof PRIORITIES)[number];

export interface RetryPolicy {
  /** Attempts in all that may end in failure, the first included: 1 means no retry. */
  readonly maxAttempts: number;
  /** Backoff before attempt n+1 is drawn evenly from [minMs, min(maxMs, baseMs × factor^(n−1))]. */
  readonly minMs: number;
  readonly baseMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** Attempts that may be lost with their worker before the task is given up (I28). They do not count above. */
  readonly maxLost: number;
}

export interface TaskSpec {
  /** Unique within the dag. */
  readonly name: string;
  readonly handler: string;
  /** What a worker is told beside the handler's name. The engine never looks inside. */
  readonly work?: object;
  readonly queue: QueueName;
  /** Numbers of the tasks that must succeed first. */
  readonly needs: readonly number[];
  readonly retry: RetryPolicy;
  /** How long one attempt may run; null for no limit. */
  readonly timeoutMs: number | null;
}

export interface ScheduleSpec {
  readonly cron: string;
  readonly zone: string;
  /** What happens to a wall time that a clock change removes (I3). */
  readonly gap: 'skip' | 'fire_after';
  /** What happens to windows missed while no server was there: none of them, the newest only, or all up to the limit. */
  readonly missed: 'skip' | 'latest' | 'all';
  /** With `all`: no more than this many of the newest missed windows; older ones are recorded as skipped (I8). */
  readonly missedLimit: number;
}

export interface DagSpec {
  readonly tasks: readonly TaskSpec[];
  readonly priority: Priority;
  readonly maxActiveRuns: number | null;
  readonly maxActiveTasks: number | null;
  readonly schedule: ScheduleSpec | null;
  readonly description?: string;
  /** Names the code of its functions; workers fetch it by this. */
  readonly bundle?: string;
  /** Events of this name make runs. */
  readonly on?: { readonly event: string };
}

export const MAX_TASKS = 10_000;
