/** What the checkers keep of each run, task, dag and shard. `ledger.ts` fills it in from the journal. */
import type {
  AddedTask,
  AttemptEnded,
  DagId,
  DagSpec,
  Epoch,
  NodeId,
  PastNote,
  Priority,
  RequiresNote,
  RunCreated,
  RunOutcome,
  ShardNo,
  SpeculativeEnded,
  SpeculativeTookOver,
  TaskNo,
  TenantId,
  WorkerId,
} from '@signalbox/engine';
import { type MapBook, taskSpecOf } from './map-book.ts';

export interface TaskBook {
  readonly taskNo: TaskNo;
  /** `waiting`: a call of another dag, which no worker has. */
  state:
    | 'running'
    | 'waiting'
    | 'returned'
    | 'retrying'
    | 'succeeded'
    | 'failed'
    | 'expired'
    | 'cancelled'
    | 'cleared'
    | 'skipped'
    | 'stopped';
  fence: number;
  /** Attempts that have ended, and the running one. */
  attemptNo: number;
  workerId: WorkerId;
  claimedAt: number;
  /** Owner's epoch when it was claimed. */
  claimEpoch: number;
  failures: number;
  lost: number;
  /** How its attempts ended since its budgets began. */
  readonly counts: Map<string, number>;
  /** Each attempt that has ended, by its fence. */
  readonly ended: Map<number, AttemptEnded>;
  /** Those that ended while another went on, or in favour of it: they count for nothing. */
  readonly beside: Map<number, SpeculativeEnded | SpeculativeTookOver>;
  /** The attempt that runs beside the leading one. */
  speculative: Pick<TaskBook, 'fence' | 'attemptNo' | 'workerId' | 'claimedAt' | 'claimEpoch'> | null;
  /** The highest fence and number so far, whichever of two had it. */
  topFence: number;
  topNo: number;
  endedAt: number;
  endEpoch: number;
  /** How many of its attempts were told of as slow. */
  slowTimes: number;
  /** The class of the failure that was its last. */
  failedAs: string | null;
  output: string | null;
  /** All that it has ever returned, or was said to have. */
  readonly outputs: Set<string>;
}

export interface RunBook {
  readonly created: RunCreated;
  readonly createdAt: number;
  priority: Priority;
  /** All that it has ever had. */
  readonly priorities: Set<Priority>;
  readonly shard: ShardNo;
  /** With what was added to it. */
  spec: DagSpec;
  readonly deployed: DagSpec;
  readonly added: Map<number, AddedTask>;
  phase: 'open' | 'closing' | 'ended';
  outcome: RunOutcome | null;
  isAdmitted: boolean;
  isSetAside: boolean;
  /** Somebody did not want to wait for what closes it. */
  isForced: boolean;
  /** How often it was told of as slow, and was opened again. */
  slowTimes: number;
  reopens: number;
  /** What its attempts are given to stop, where a cancel has said so. */
  graceMs: number;
  closedAt: number;
  /** When its time was over, the last time. */
  timedOutAt: number | null;
  /** Tasks of it that had succeeded were cleared, or some were marked. */
  byHand: boolean;
  /** What its window requires, while it waits for that. */
  requires: RequiresNote | null;
  /** What its tasks that depend on the past wait for; null before that is known. */
  past: PastNote | null;
  /** Tasks that are; null for the run itself. */
  readonly paused: Set<TaskNo | null>;
  /** When it was opened, the last time. */
  openedAt: number;
  readonly tasks: Map<TaskNo, TaskBook>;
  /** What follows from all this: see `task-states.ts`. Null when that is to be found out anew. */
  derived: Derived | null;
  /** In the order in which they expanded. */
  readonly maps: MapBook[];
}

/** An attempt that went with a worker that was told to stop counts against no budget. */
export function isCountedLoss({ outcome, code }: Pick<AttemptEnded, 'outcome' | 'code'>): boolean {
  return outcome === 'lost' && !['lost:left', 'lost:drained', 'preempted', 'evicted', 'gang'].includes(code ?? '');
}

/** Somebody holds the task, or its run. */
export function isPaused({ paused }: RunBook, taskNo: number): boolean {
  return paused.has(null) || paused.has(taskNo as TaskNo);
}

/** The task depends on the past, and nobody has let it go. */
export function isHeldByPast(run: RunBook, taskNo: number): boolean {
  if (run.created.firesAt === null || run.phase !== 'open') return false;
  const spec = taskSpecOf(run, taskNo);
  if (spec.past === undefined) return false;
  return run.past === null || run.past.left.includes(run.spec.tasks.indexOf(spec));
}

/** The states of the tasks. */
export interface Derived {
  /** By their names, as if maps expanded at once. */
  readonly named: ReadonlyMap<string, string>;
  /** By their numbers, as far as the journal has come; null before anybody has asked. */
  byNo: ReadonlyMap<number, string> | null;
}

export interface DagBook {
  readonly dagId: DagId;
  readonly tenantId: TenantId;
  readonly name: string;
  spec: DagSpec;
  versionNo: number;
  readonly versions: Map<number, DagSpec>;
  deployedAt: number;
  isRetired: boolean;
}

export interface ShardBook {
  epoch: Epoch;
  owner: NodeId | null;
  ownedSince: number;
  commitNo: number;
  takeCount: number;
}
