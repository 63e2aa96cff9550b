/**
 * The attempts that run, one row each. A row lives from the claim until the attempt ends or its claim is returned; what must be
 * known after that is in the row of its task.
 *
 * The attempts of a task are a list. The first is the *leading* attempt: the row of the task shows it, and its end decides what
 * becomes of the task. A second one is a *speculative* attempt, which runs beside a slow one (I23).
 *
 * The attempts of a worker are a list as well. The attempt of a task that runs another dag has no worker.
 */
import type { AttemptSlot, MonoMs, TaskSlot } from '../../model/ids.ts';
import type { AttemptOutcome } from '../../model/task/outcome.ts';
import { type AttemptColumn, grown } from '../column.ts';

export const NO_ATTEMPT = -1 as AttemptSlot;
export const NO_WORKER = -1;

export class AttemptTable {
  private capacity = 0;
  private used = 0;
  /** Rows to use again: a list through `nextOfTask`. */
  private firstFree = NO_ATTEMPT;
  /** Rows in use. */
  count = 0;

  /** The slot of its task. */
  task = new Int32Array(0) as unknown as AttemptColumn<TaskSlot>;
  nextOfTask = new Int32Array(0) as unknown as AttemptColumn<AttemptSlot>;
  attemptNo: AttemptColumn = new Int32Array(0);
  fence: AttemptColumn = new Int32Array(0);
  claimedAt: AttemptColumn = new Float64Array(0);
  /** The same instant on the clock that never jumps. */
  claimedMono: AttemptColumn = new Float64Array(0);
  /** The number of the worker that runs it, or NO_WORKER. */
  worker: AttemptColumn = new Int32Array(0);
  nextOfWorker = new Int32Array(0) as unknown as AttemptColumn<AttemptSlot>;
  previousOfWorker = new Int32Array(0) as unknown as AttemptColumn<AttemptSlot>;
  /** Whether the claim has arrived at its worker: see `confirmed.ts`. */
  confirmed: AttemptColumn = new Uint8Array(0);

  /** Few attempts have any of these. */
  readonly watches = new Map<AttemptSlot, AttemptWatch>();
  /** Calls that are to end before their time: how they end, once the child run has ended. */
  readonly stopping = new Map<AttemptSlot, StopOfCall>();
  /** Of attempts on workers that several tenants share: whose share they use. */
  readonly flows = new Map<AttemptSlot, UseOfShare>();
  /** Told to stop, to make room for a critical task. */
  readonly preempted = new Set<AttemptSlot>();

  allocate(): AttemptSlot {
    this.count += 1;
    const free = this.firstFree;
    if (free === NO_ATTEMPT) return this.extend();
    this.firstFree = this.nextOfTask[free]!;
    return free;
  }

  release(attempt: AttemptSlot): void {
    this.count -= 1;
    this.task[attempt] = -1 as TaskSlot;
    this.worker[attempt] = NO_WORKER;
    this.nextOfTask[attempt] = this.firstFree;
    this.firstFree = attempt;
    if (this.watches.size > 0) this.watches.delete(attempt);
    if (this.stopping.size > 0) this.stopping.delete(attempt);
    if (this.preempted.size > 0) this.preempted.delete(attempt);
  }

  /** All attempts that run, in no particular order. */
  forEach(visit: (attempt: AttemptSlot) => void): void {
    for (let attempt = 0 as AttemptSlot; attempt < this.used; attempt++) if (this.task[attempt]! >= 0) visit(attempt);
  }

  private extend(): AttemptSlot {
    const attempt = this.used;
    this.used += 1;
    if (this.used > this.capacity) {
      this.capacity = Math.max(64, this.capacity * 2);
      this.task = grown(this.task, this.capacity);
      this.nextOfTask = grown(this.nextOfTask, this.capacity);
      this.attemptNo = grown(this.attemptNo, this.capacity);
      this.fence = grown(this.fence, this.capacity);
      this.claimedAt = grown(this.claimedAt, this.capacity);
      this.claimedMono = grown(this.claimedMono, this.capacity);
      this.worker = grown(this.worker, this.capacity);
      this.nextOfWorker = grown(this.nextOfWorker, this.capacity);
      this.previousOfWorker = grown(this.previousOfWorker, this.capacity);
      this.confirmed = grown(this.confirmed, this.capacity);
    }
    return attempt as AttemptSlot;
  }
}

/** The part of an attempt that exists in memory only, on the clock that never jumps. */
export interface AttemptWatch {
  /** When its time is over, once it got more than its timeout. */
  deadlineAt?: number;
  progressAt?: number;
  /** Of a task that may have two attempts: the last checkpoint of this one that was kept. */
  savedNo?: number;
  /** When its last checkpoint was kept. */
  savedAt?: number;
}

/** The share of a tenant that an attempt uses: see `queue/flow.ts`. */
interface UseOfShare {
  end(mono: MonoMs): void;
}

export interface StopOfCall {
  readonly outcome: AttemptOutcome;
  readonly error: string | null;
  readonly code?: string | null;
  readonly isLast?: boolean;
}
