/** A dag as the engine sees it: tasks and edges by number. Of user code it has only the name of a handler. */
import type { ExpectSpec } from '../expect.ts';
import type { QueueName } from '../ids.ts';
import type { PoolSpec } from '../limit.ts';
import type { PlacementSpec } from '../placement.ts';
import type { NamedSchedule, ScheduleSpec } from '../schedule/schedule-spec.ts';
import type { FailureClass } from '../task/outcome.ts';
import type { TriggerRule } from '../task/trigger.ts';
import type { OnSpec } from '../trigger/event-trigger.ts';
import type { Expression } from './expression.ts';

export type { NamedSchedule, ScheduleSpec } from '../schedule/schedule-spec.ts';

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
  /** The classes that are tried again; all but `permanent` unless told. */
  readonly on?: readonly FailureClass[];
  /** Looked at before the class: exact codes, or what codes begin with (`exit:*`). The first that fits counts. */
  readonly codes?: readonly RetryPattern[];
  /** Looked at before the class, after the codes: parts of the error's text, with stars between them. */
  readonly errors?: readonly RetryPattern[];
  /** Attempts that may end so, the first included; within `maxAttempts` (I39). */
  readonly budgets?: Readonly<Partial<Record<FailureClass, number>>>;
}

export interface RetryPattern {
  readonly match: string;
  readonly retry: boolean;
}

/** What a resource failure changes for the next attempt. */
export interface MemoryGrowth {
  readonly factor: number;
  readonly maxBytes: number;
}

/** A task that fails at once so many times within so long is poison, and ends before its retries are used up. */
export interface PoisonPolicy {
  readonly count: number;
  readonly withinMs: number;
  /** An attempt shorter than this failed at once. */
  readonly underMs: number;
}

/** A speculative attempt of a mapped task that takes far longer than its siblings; the first of the two to succeed counts. */
export interface SpeculateSpec {
  /** Over the median of the siblings that have succeeded. */
  readonly factor: number;
  /** Never before it has run this long. */
  readonly minMs: number;
  /** So many siblings must have succeeded; unless told half of them, or a hundred. */
  readonly minimum?: number;
}

/** Holds the dag's new tasks while too large a share of its attempts fails. */
export interface BreakerPolicy {
  /** Of the attempts that ended within the window: from 0 to 1. */
  readonly share: number;
  readonly windowMs: number;
  /** Fewer ended attempts than this say nothing. */
  readonly minimum: number;
  /** Until the first probe; each that fails doubles it, up to the most. */
  readonly pauseMs: number;
  readonly maxPauseMs: number;
}

export interface TaskSpec {
  /** Unique within the dag. */
  readonly name: string;
  readonly handler: string;
  /** The worker also receives information about the run. */
  readonly runInfo?: true;
  /** What a worker receives besides the name of the handler. The engine never looks inside. */
  readonly work?: object;
  readonly queue: QueueName;
  /** Numbers of the tasks upstream: by default all of them must succeed first. */
  readonly needs: readonly number[];
  /** What must have become of them; `all_success` unless told. */
  readonly rule?: TriggerRule;
  /** Looked at once the rule lets the task run; where it does not hold, the task is skipped. */
  readonly when?: Condition;
  /** Its output names those of its direct downstream tasks that go on. */
  readonly branch?: true;
  /** An output that is empty or false skips those that need it: the next ones, or everything behind it. */
  readonly shortCircuit?: 'next' | 'all';
  /** The rule `all_done_setup_success` asks for the success of these. */
  readonly setup?: true;
  /**
   * Takes down what these setups have made: runs once its needs have ended in whatever way, also while the run is closing, if
   * one of the setups succeeded, or there are none.
   */
  readonly teardown?: readonly number[];
  /** Undoes this task, while a run that failed or was cancelled is closing; the dag has `compensate`. */
  readonly undoes?: number;
  /** Runs when this happens to the task, or to the run. */
  readonly hook?: { readonly of: number | null; readonly on: HookEvent };
  /** It runs another dag, and takes no worker: see `decide/child/`. */
  readonly child?: ChildSpec;
  /** Its attempts may add tasks to their run: see `decide/add/`. */
  readonly adds?: true;
  /** Of the spec of one run that goes up to a chosen task: it is not part of it, and skipped. */
  readonly outside?: true;
  /** Of the spec of one run: the task that has added this one to it. */
  readonly addedBy?: number;
  /** What of its output is looked at by conditions of other tasks, and which lists in it are mapped over. */
  readonly facts?: readonly Path[];
  /** Conditions of other tasks look at why it failed. */
  readonly tellsError?: true;
  /** The innermost group that it belongs to: index in `groups` of the dag. */
  readonly group?: number;
  readonly retry: RetryPolicy;
  /** Never poison unless told. */
  readonly poison?: PoisonPolicy;
  /** How long one attempt may run; null for no limit. */
  readonly timeoutMs: number | null;
  /** What one attempt may have of memory. */
  readonly memoryBytes?: number;
  readonly onResource?: MemoryGrowth;
  /** How many of its attempts may run at a time, over all runs of the dag. */
  readonly maxActive?: number;
  /** How many of its attempts may start per time, over all runs of the dag. */
  readonly rate?: RateSpec;
  /** Slots of a pool that it takes while it runs. */
  readonly pool?: PoolSpec;
  /** What it asks of its worker; absent: any worker of its queue. */
  readonly placement?: PlacementSpec;
  /** Its attempts are not stopped to make room for critical tasks. */
  readonly preemptible?: false;
  /** How long it may be ready without a claim. */
  readonly queueTimeoutMs?: number;
  /** How long one attempt may go without progress. */
  readonly stuckMs?: number;
  /** How long it may take over all its attempts, from the first claim on. */
  readonly totalTimeoutMs?: number;
  /** An attempt that takes longer is reported as slow and continues. */
  readonly softTimeoutMs?: number;
  /** Names of the assets that are fresh once it has succeeded. */
  readonly produces?: readonly string[];
  /** In a mapped group only. */
  readonly speculate?: SpeculateSpec;
  /**
   * In a run for a window: waits for the same task of the window before, and with `downstream` also for the tasks directly
   * downstream of that one. See `decide/past/`.
   */
  readonly past?: 'task' | 'downstream';
}

/**
 * Tasks under one name. Where it has a map, the whole group runs once for each item, each item by itself; groups in it, mapped or
 * not, are part of that. A mapped task is a mapped group of one.
 */
export interface GroupSpec {
  readonly name: string;
  /** The group around it: index in `groups`, always a lower one. */
  readonly parent: number | null;
  readonly map?: MapSpec;
}

export interface MapSpec {
  /** The lists whose items it runs over: one, or several by `mode`. */
  readonly over: readonly MapSource[];
  /** `product`: each item of one list with each of the others, the last list fastest. `zip`: first with first, and so on. */
  readonly mode: 'product' | 'zip';
}

/** Where a list comes from. The engine sees no items, only how many there are: the length of a fact, or what is written. */
export type MapSource =
  | { readonly from: 'task'; readonly task: number; readonly fact: number }
  | { readonly from: 'params'; readonly fact: number }
  | { readonly from: 'list'; readonly length: number };

export const HOOK_EVENTS = ['before', 'after', 'success', 'failure', 'retry', 'slow'] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** Which dag of the same tenant a task runs. */
export interface ChildSpec {
  readonly dag: string;
  /** False: the task has succeeded as soon as the run is stored, and what becomes of that is its own affair. */
  readonly wait: boolean;
}

/** A way into a value: names of fields, numbers of items. */
export type Path = readonly (string | number)[];

export interface Condition {
  /** As it was written: for people. */
  readonly text: string;
  readonly expression: Expression;
}

/**
 * What a failure means for the rest of its run. `continue`: what does not depend on it is finished. `fail_fast`: the run
 * closes. `skip_failed`: what depends on it goes on without it.
 */
export const FAILURE_POLICIES = ['continue', 'fail_fast', 'skip_failed'] as const;
export type FailurePolicy = (typeof FAILURE_POLICIES)[number];

/** What a new run does when its key has as many runs as it may. */
export const ON_FULL = ['queue', 'cancel_running', 'skip', 'cancel_new'] as const;
export type OnFull = (typeof ON_FULL)[number];

/** So many attempts may start in any time of this length. */
export interface RateSpec {
  readonly limit: number;
  readonly perMs: number;
}

/** How many runs with the same key may be active. */
export interface ConcurrencySpec {
  /** The key as it was written: for people. */
  readonly text: string;
  /** What it is made of, in order: texts, and values of the params. */
  readonly key: readonly (string | Path)[];
  readonly limit: number;
  readonly onFull: OnFull;
}

export interface DagSpec {
  readonly tasks: readonly TaskSpec[];
  readonly priority: Priority;
  readonly maxActiveRuns: number | null;
  readonly maxActiveTasks: number | null;
  /** How many tasks of one run may run at a time. */
  readonly maxActiveTasksPerRun?: number;
  /** How many attempts of its tasks may start per time. */
  readonly rate?: RateSpec;
  /** A limit of active runs for each key; see `decide/run/run-key.ts`. */
  readonly concurrency?: ConcurrencySpec;
  readonly schedule: ScheduleSpec | null;
  /** In place of `schedule`, where there are several. */
  readonly schedules?: readonly NamedSchedule[];
  readonly description?: string;
  /** For people, to find it by. */
  readonly tags?: readonly string[];
  /** Who answers for it, for people. */
  readonly owner?: string;
  /** Names the code of its functions; workers fetch it by this. */
  readonly bundle?: string;
  /** Names the archive of the files that its processes work with. */
  readonly files?: string;
  /** Where its files lay when it was deployed, for people. Not part of its meaning: the content hash leaves it out. */
  readonly source?: string;
  /** The events that start runs. */
  readonly on?: OnSpec;
  /** The events that it expects. */
  readonly expect?: readonly ExpectSpec[];
  /** A run that ended failed is opened again by the server, so many times, and what failed is cleared. */
  readonly retryRun?: { readonly maxTimes: number; readonly delayMs: number };
  /** `continue` unless told. */
  readonly onFailure?: FailurePolicy;
  /** None of its own unless told; null: its retries are not held behind breakers of errors either. */
  readonly breaker?: BreakerPolicy | null;
  /** Open dead letters that are kept, the newest ones; a default of the server unless told. */
  readonly maxDeadLetters?: number;
  /** What of the params is looked at by conditions, and which lists of theirs are mapped over. */
  /** What was done is undone when a run fails or is cancelled, as far as its tasks say how. */
  readonly compensate?: true;
  /** How long a run may take, from when it became active; it fails then. */
  readonly timeoutMs?: number;
  /** A run that takes longer is reported as slow and continues. */
  readonly softTimeoutMs?: number;
  /** What of the params is looked at by conditions. */
  readonly paramFacts?: readonly Path[];
  /** Of tasks. */
  readonly groups?: readonly GroupSpec[];
  /** How many items one map may have; DEFAULT_MAP_SIZE unless told. */
  readonly maxMapSize?: number;
  /** What tasks may be added to a run: all of a task but its name, its `needs` those that are so for each. */
  readonly templates?: readonly TaskSpec[];
  /** How many tasks may be added to one run; DEFAULT_ADDED_TASKS unless told. */
  readonly maxAddedTasks?: number;
  /** Of the spec of one run: so many of its tasks, the last ones, were added to it. */
  readonly addedCount?: number;
  /** Of the spec of one run: the task or group that it goes up to, where that leaves out others. */
  readonly until?: string;
  /** What the params must be. Checked at the edge: here it only counts for which version that was done. */
  readonly paramsSchema?: object | boolean;
  /** Is called when a run has ended. */
  readonly callbackUrl?: string;
  /** JSON text: the params of a scheduled run. */
  readonly defaultParams?: string;
}

export const MAX_TASKS = 10_000;
export const DEFAULT_MAP_SIZE = 10_000;
export const DEFAULT_ADDED_TASKS = 100;
export const MAX_MAP_SIZE = 1_000_000;
/** Tasks of one run, those that its maps have made included. */
export const MAX_RUN_TASKS = 2_000_000;
