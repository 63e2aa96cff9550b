/**
 * The ready tasks of one dag, for one queue and one priority, oldest run first. The order depends on ids alone, so it
 * survives a handover, and a task that comes back (refused, retried) keeps its place (I26).
 *
 * A lane is the unit that a limit holds back: when its dag may start no more tasks, the whole lane steps aside and blocks
 * nobody else (I47). Entries of tasks that are no longer ready stay until they come up; `ready` counts the true ones.
 */
import type { QueueName, TaskSlot, TenantId } from '../../model/ids.ts';
import { isKept, type PoolSpec } from '../../model/limit.ts';
import type { Request } from '../../model/placement.ts';
import type { LaneLimit } from '../limit/lane-limit.ts';
import type { LaneHold } from '../limit/limit-table.ts';
import type { TaskTable } from '../task/task-table.ts';
import type { Turn } from './turn.ts';

/** The queue that a lane stands in: see `ready-queue.ts`. */
interface QueueOfLanes {
  readonly tenantId: TenantId;
  readonly name: QueueName;
  readonly request: Request | null;
  readonly isHeld: boolean;
  waitingAt(priority: number): number;
  activeTurns(priority: number): readonly Turn<Lane>[];
  update(lane: Lane): void;
  passTurn(lane: Lane): void;
}

/** The dag whose limit holds a lane back. */
interface LimitedDag {
  readonly name: string;
  /** For new tasks, by its own limit; null: it has none. */
  readonly taskRoom: number | null;
  /** Lets through so many, while its breaker is not closed. */
  readonly gate: { readonly allowance: number } | null;
  hasRoomForTask(count: number): boolean;
}

const NO_HOLDS: readonly LaneHold[] = [];

export class Lane {
  readonly dag: LimitedDag;
  readonly queue: QueueOfLanes;
  readonly priority: number;
  /** How many tasks begin together: what it counts as ready are gangs of so many. 1 unless its tasks are members of gangs. */
  readonly gangSize: number;
  /** Of its dag in its queue and class. */
  readonly turn: Turn<Lane>;
  /** Place among the active lanes of its dag there; -1 when it is empty or held back. */
  place = -1;
  ready = 0;
  /** Running tasks of it that wait for a speculative attempt. They are not in it, but want slots of its limits, too. */
  slow = 0;
  /** How many of them its queue counts as waiting. */
  counted = 0;
  /** The pool that its tasks take slots of. */
  pool: PoolSpec | undefined;
  /** Limits of its dag that are not for all of its tasks. */
  own: readonly LaneHold[] = NO_HOLDS;
  /** What each of its tasks takes of limits, but for that of its whole dag. Nearly always nothing. */
  holds: readonly LaneHold[] = NO_HOLDS;
  /** How many of its tasks wait for each of these, as far as they know. */
  private readonly wanted: number[] = [];
  /** These tell it when they have room. */
  private isWaiting = false;
  private readonly runIds: number[] = [];
  private readonly slots: TaskSlot[] = [];

  private readonly tasks: Pick<TaskTable, 'no'>;

  constructor(
    dag: LimitedDag,
    queue: QueueOfLanes,
    { priority, turn }: { readonly priority: number; readonly turn: Turn<Lane> },
    tasks: Pick<TaskTable, 'no'>,
  ) {
    this.turn = turn;
    this.tasks = tasks;
    this.dag = dag;
    this.queue = queue;
    this.priority = priority;
    this.gangSize = queue.request?.gang?.size ?? 1;
  }

  get size(): number {
    return this.slots.length;
  }

  /** These have room for one more of its tasks, or for one more of its gangs. */
  hasRoom(): boolean {
    for (const { hold, slots, passes } of this.holds) {
      if (passes === undefined && !hold.hasRoom(slots * this.gangSize)) return false;
    }
    return true;
  }

  /** Slots are kept from it, and nothing else holds it back: with another worker, more would be left. */
  lacksOnlyKept(): boolean {
    let lacksKept = false;
    for (const { hold, slots, passes } of this.holds) {
      if (passes !== undefined || hold.hasRoom(slots * this.gangSize)) continue;
      if (!isKept(hold.name)) return false;
      lacksKept = true;
    }
    return lacksKept && this.dag.hasRoomForTask(this.gangSize);
  }

  /**
   * So many of its tasks could begin, if these limits have room. It asks for slots of a limit only while those before it have room:
   * others could use what it takes and cannot use (I29, I47).
   */
  want(all: number): void {
    const { priority, holds, wanted, gangSize } = this;
    const isWaiting = all > 0;
    let count = all;
    holds.forEach(({ hold, slots: ofTask, passes }, i) => {
      if (passes !== undefined) return;
      const slots = ofTask * gangSize;
      const more = count - (wanted[i] ?? 0);
      wanted[i] = count;
      if (more !== 0 || isWaiting !== this.isWaiting) hold.want(this, { priority, slots, more, isWaiting });
      if (!hold.hasRoom(slots)) count = 0;
    });
    this.isWaiting = isWaiting;
  }

  slotsIn(of: LaneLimit): number {
    return (this.holds.find(({ hold }) => hold === of)?.slots ?? 0) * this.gangSize;
  }

  update(): void {
    this.queue.update(this);
  }

  /** It has limits that it had not before. */
  setHolds(holds: readonly LaneHold[]): void {
    this.want(0);
    this.holds = holds;
    this.update();
  }

  headRunId(): number {
    return this.runIds[0]!;
  }

  headSlot(): TaskSlot {
    return this.slots[0]!;
  }

  push(runId: number, slot: TaskSlot): void {
    let at = this.slots.length;
    this.runIds.push(runId);
    this.slots.push(slot);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.isBefore(runId, slot, parent)) break;
      this.runIds[at] = this.runIds[parent]!;
      this.slots[at] = this.slots[parent]!;
      at = parent;
    }
    this.runIds[at] = runId;
    this.slots[at] = slot;
  }

  pop(): void {
    const runId = this.runIds.pop()!;
    const slot = this.slots.pop()!;
    const size = this.slots.length;
    if (size === 0) return;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= size) break;
      if (child + 1 < size && this.isBefore(this.runIds[child + 1]!, this.slots[child + 1]!, child)) child += 1;
      if (this.isBefore(runId, slot, child)) break;
      this.runIds[at] = this.runIds[child]!;
      this.slots[at] = this.slots[child]!;
      at = child;
    }
    this.runIds[at] = runId;
    this.slots[at] = slot;
  }

  /** Entries of runs that are older than this one, or of it before the task with this number; no more than `most` are counted. */
  countBefore(
    runId: number,
    taskNo: number,
    most: number,
    isReady: (runId: number, slot: TaskSlot) => boolean,
  ): number {
    const { runIds, slots, tasks } = this;
    const stack = [0];
    const seen = new Set<TaskSlot>();
    // An entry that is not before it has none below it that is: as many are looked at as are counted, and those out of date.
    for (let at = stack.pop(); at !== undefined && seen.size < most; at = stack.pop()) {
      if (at >= slots.length) continue;
      const slot = slots[at]!;
      if (runIds[at]! > runId || (runIds[at] === runId && tasks.no[slot]! >= taskNo)) continue;
      if (isReady(runIds[at]!, slot)) seen.add(slot);
      stack.push(at * 2 + 1, at * 2 + 2);
    }
    return seen.size;
  }

  clear(): void {
    this.runIds.length = 0;
    this.slots.length = 0;
    this.ready = 0;
  }

  isMostlyStale(): boolean {
    return this.slots.length > 2 * this.ready + 64;
  }

  /** Drops entries that are out of date, and all but one of the same task: it may have left and come back (I73). */
  compact(isReady: (runId: number, slot: TaskSlot) => boolean): void {
    const runIds = this.runIds.splice(0);
    const slots = this.slots.splice(0);
    const kept = new Set<TaskSlot>();
    slots.forEach((slot, i) => {
      if (kept.has(slot) || !isReady(runIds[i]!, slot)) return;
      kept.add(slot);
      this.push(runIds[i]!, slot);
    });
  }

  /** Within a run by number. A slot keeps that while its run is there; entries of one that is gone are in nobody's way. */
  private isBefore(runId: number, slot: TaskSlot, other: number): boolean {
    const otherRun = this.runIds[other]!;
    if (runId !== otherRun) return runId < otherRun;
    const { no } = this.tasks;
    return no[slot]! < no[this.slots[other]!]!;
  }
}
