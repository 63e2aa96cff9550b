/**
 * A dag as the engine runs it: tasks by number. The types have the shape of the engine's own and are written again here,
 * because this package imports nothing of ours.
 */
import type { ParamsSchema } from '../params/params-schema.ts';
import type { BreakerShape, PoisonShape } from './breaker-fields.ts';
import type { HookEvent } from './closing.ts';
import type { Priority } from './common.ts';
import type { ConcurrencyShape } from './concurrency-fields.ts';
import type { FailurePolicy, TriggerRule } from './dag-definition.ts';
import type { PlacementShape } from './placement-fields.ts';
import type { ExpectShape } from './read-expect.ts';
import type { ConditionShape } from './read-graph.ts';
import type { GroupSpecShape } from './read-groups.ts';
import type { OnShape } from './read-triggers.ts';
import type { Path } from './references.ts';
import type { RetryPolicyShape } from './retries.ts';
import type { ScheduleSpecShape } from './schedule-fields.ts';
import type { SpeculateShape } from './speculate-fields.ts';
import type { RateShape, TaskLimitsShape } from './task-limits.ts';
import type { ChildWork, WorkShape } from './work.ts';

export interface TaskSpecShape extends TaskLimitsShape {
  readonly name: string;
  /** A handler of the worker or of the bundle; empty for a process or an HTTP call. */
  readonly handler: string;
  /** It refers to the run itself. */
  readonly runInfo?: true;
  /** Absent for a plain handler without inputs. */
  readonly work?: WorkShape | ChildWork;
  /** It runs another dag, and takes no worker. */
  readonly child?: { readonly dag: string; readonly wait: boolean };
  readonly queue: string;
  /** Ascending numbers of the tasks upstream. */
  readonly needs: readonly number[];
  readonly rule?: TriggerRule;
  readonly when?: ConditionShape;
  readonly branch?: true;
  readonly shortCircuit?: 'next' | 'all';
  readonly setup?: true;
  /** Its setups; runs however the run goes. */
  readonly teardown?: readonly number[];
  readonly undoes?: number;
  readonly hook?: { readonly of: number | null; readonly on: HookEvent };
  readonly adds?: true;
  readonly facts?: readonly Path[];
  readonly tellsError?: true;
  /** The innermost group that it is in. */
  readonly group?: number;
  readonly retry: RetryPolicyShape;
  readonly timeoutMs: number | null;
  readonly poison?: PoisonShape;
  readonly speculate?: SpeculateShape;
  readonly maxActive?: number;
  readonly rate?: RateShape;
  readonly placement?: PlacementShape;
  readonly preemptible?: false;
  readonly past?: 'task' | 'downstream';
  /** Assets that are fresh once it has succeeded. */
  readonly produces?: readonly string[];
}

export interface DagSpecShape {
  readonly tasks: readonly TaskSpecShape[];
  readonly priority: Priority;
  readonly maxActiveRuns: number | null;
  readonly maxActiveTasks: number | null;
  readonly maxActiveTasksPerRun?: number;
  readonly rate?: RateShape;
  readonly concurrency?: ConcurrencyShape;
  readonly schedule: ScheduleSpecShape | null;
  readonly schedules?: readonly { readonly name: string; readonly spec: ScheduleSpecShape }[];
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly owner?: string;
  readonly bundle?: string;
  readonly files?: string;
  readonly on?: OnShape;
  readonly expect?: readonly ExpectShape[];
  readonly onFailure?: Exclude<FailurePolicy, 'continue'>;
  readonly retryRun?: { readonly maxTimes: number; readonly delayMs: number };
  readonly timeoutMs?: number;
  readonly softTimeoutMs?: number;
  readonly compensate?: true;
  readonly paramFacts?: readonly Path[];
  readonly breaker?: BreakerShape | null;
  readonly maxDeadLetters?: number;
  readonly paramsSchema?: ParamsSchema;
  readonly defaultParams?: string;
  readonly callbackUrl?: string;
  readonly groups?: readonly GroupSpecShape[];
  readonly maxMapSize?: number;
  readonly templates?: readonly TaskSpecShape[];
  readonly maxAddedTasks?: number;
}
