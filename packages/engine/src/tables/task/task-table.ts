/**
 * The tasks of live runs, as columns. Those of a run's spec lie side by side, so that task t of a run is slot `base + t`; those
 * that its maps have made lie in pages (`tables/map/run-maps.ts`). Their states
 * are in `model/task/task-states.ts`.
 */

import type { AttemptSlot, RunRow, TaskNo, TaskSlot } from '../../model/ids.ts';
import type { TaskNotes } from '../../model/task/notes.ts';
import { BLOCKED } from '../../model/task/task-states.ts';
import { NO_ATTEMPT } from '../attempt/attempt-table.ts';
import { grown, type TaskColumn } from '../column.ts';

/** In place of a slot where there is no such task. */
export const NO_TASK = -1 as TaskSlot;
const NO_RUN = -1 as RunRow;

/** Where the first task lies in columns that hold one run alone. */
export const FIRST_SLOT = 0 as TaskSlot;

/** The slot of task `no` of the spec, in a run whose first task is at `base`. */
export function slotAt(base: TaskSlot, no: number): TaskSlot {
  return (base + no) as TaskSlot;
}

export class TaskTable {
  private capacity = 0;
  private used = 0;
  /** Blocks to use again, by their length. */
  private readonly free = new Map<number, TaskSlot[]>();

  run = new Int32Array(0) as unknown as TaskColumn<RunRow>;
  /** Its number within the run. */
  no = new Int32Array(0) as unknown as TaskColumn<TaskNo>;
  state: TaskColumn = new Uint8Array(0);
  /**
   * Upstream tasks that have not ended yet, and how many of the others ended so: of a mapped one each instance. In a plain graph
   * only the first is looked at while nothing has failed, so the others are not even set to 0 for a new run of one.
   */
  unmet: TaskColumn = new Int32Array(0);
  upSucceeded: TaskColumn = new Int32Array(0);
  upFailed: TaskColumn = new Int32Array(0);
  upUpstreamFailed: TaskColumn = new Int32Array(0);
  upSkipped: TaskColumn = new Int32Array(0);
  /** Number of its leading attempt, or of the last that led. */
  attemptNo: TaskColumn = new Int32Array(0);
  lostCount: TaskColumn = new Int32Array(0);
  /** Attempts up to this number count against no budget: somebody cleared the task after it. */
  budgetBase: TaskColumn = new Int32Array(0);
  /** 1 when somebody wants another attempt that has not been claimed yet: its upstream says what it is. */
  cleared: TaskColumn = new Uint8Array(0);
  /** Of its leading attempt, or of the last that led; a mark by hand has one too. */
  fence: TaskColumn = new Int32Array(0);
  /** Its leading attempt; -1 when none runs. Another one follows it in the attempt table. */
  attempt = new Int32Array(0) as unknown as TaskColumn<AttemptSlot>;
  /** How the last attempt that ended did: 0 for none, else 1 + index in ATTEMPT_OUTCOMES. */
  lastOutcome: TaskColumn = new Uint8Array(0);
  /** The fence of that attempt: a report of it that comes again gets the same answer (I22). */
  endedFence: TaskColumn = new Int32Array(0);
  /** Of its last failure; 0 when it had none, or somebody cleared it since. */
  fingerprint: TaskColumn = new Float64Array(0);
  /** Attempts in a row that failed at once, and when the first of them did. */
  quickCount: TaskColumn = new Uint8Array(0);
  quickSince: TaskColumn = new Float64Array(0);
  /** When a retry may start, by the wall clock; 0 when the newest attempt to end was the last. The timer decides. */
  retryAt: TaskColumn = new Float64Array(0);

  /** Few tasks have any. */
  readonly notes = new Map<TaskSlot, TaskNotes>();
  /** When their time in the queue is over, on the clock that never jumps. */
  readonly queueDueAt = new Map<TaskSlot, number>();
  /** When the whole time of a task is over, on the clock that never jumps; only where that is limited, from its first claim on. */
  readonly totalDueAt = new Map<TaskSlot, number>();
  /** When the backoff of a closing task is over, on the same clock. */
  readonly backoffDueAt = new Map<TaskSlot, number>();

  /** Slots side by side, for tasks that are numbered from `firstNo` on. */
  allocate(length: number, run: RunRow, firstNo = 0): TaskSlot {
    const room = roomFor(length);
    const base = this.free.get(room)?.pop() ?? this.extend(room);
    // A loop, not `fill` per column: most runs have a task or a few, and a dozen calls cost more than they do.
    for (let slot = base; slot < base + length; slot++) {
      this.run[slot] = run;
      this.no[slot] = (firstNo + slot - base) as TaskNo;
      this.state[slot] = BLOCKED;
      this.cleared[slot] = 0;
      this.attemptNo[slot] = 0;
      this.lostCount[slot] = 0;
      this.budgetBase[slot] = 0;
      this.fence[slot] = 0;
      this.attempt[slot] = NO_ATTEMPT;
      this.lastOutcome[slot] = 0;
      this.endedFence[slot] = 0;
      this.retryAt[slot] = 0;
      this.fingerprint[slot] = 0;
      this.quickCount[slot] = 0;
    }
    return base;
  }

  release(base: TaskSlot, length: number): void {
    for (let slot = base; slot < base + length; slot++) this.run[slot] = NO_RUN;
    for (const kept of [this.notes, this.queueDueAt, this.totalDueAt, this.backoffDueAt]) {
      if (kept.size > 0) for (let slot = base; slot < base + length; slot++) kept.delete(slot);
    }
    const room = roomFor(length);
    const blocks = this.free.get(room);
    if (blocks === undefined) this.free.set(room, [base]);
    else blocks.push(base);
  }

  private extend(length: number): TaskSlot {
    const base = this.used as TaskSlot;
    this.used += length;
    if (this.used > this.capacity) {
      this.capacity = Math.max(64, this.capacity * 2, this.used);
      this.run = grown(this.run, this.capacity);
      this.no = grown(this.no, this.capacity);
      this.state = grown(this.state, this.capacity);
      this.unmet = grown(this.unmet, this.capacity);
      this.upSucceeded = grown(this.upSucceeded, this.capacity);
      this.upFailed = grown(this.upFailed, this.capacity);
      this.upUpstreamFailed = grown(this.upUpstreamFailed, this.capacity);
      this.upSkipped = grown(this.upSkipped, this.capacity);
      this.cleared = grown(this.cleared, this.capacity);
      this.attemptNo = grown(this.attemptNo, this.capacity);
      this.lostCount = grown(this.lostCount, this.capacity);
      this.budgetBase = grown(this.budgetBase, this.capacity);
      this.fence = grown(this.fence, this.capacity);
      this.attempt = grown(this.attempt, this.capacity);
      this.lastOutcome = grown(this.lastOutcome, this.capacity);
      this.endedFence = grown(this.endedFence, this.capacity);
      this.fingerprint = grown(this.fingerprint, this.capacity);
      this.quickCount = grown(this.quickCount, this.capacity);
      this.quickSince = grown(this.quickSince, this.capacity);
      this.retryAt = grown(this.retryAt, this.capacity);
    }
    return base;
  }
}

/**
 * Blocks come in sizes a quarter of a power of two apart, so that a block left by one dag is of use to many others: with a
 * size for each count of tasks, memory would grow with each new count and never be used again (I73).
 */
export function roomFor(length: number): number {
  if (length <= 8) return length;
  const quarter = 2 ** (29 - Math.clz32(length - 1));
  return Math.ceil(length / quarter) * quarter;
}
