/**
 * The ready tasks of one dag, for one queue and one priority, oldest run first. The order depends on ids alone, so it
 * survives a handover, and a task that comes back (refused, retried) keeps its place (I26).
 *
 * A lane is the unit that a limit holds back: when its dag may start no more tasks, the whole lane steps aside and blocks
 * nobody else (I47). Entries of tasks that are no longer ready stay until they come up; `ready` counts the true ones.
 */
import type { TaskSlot } from '../../model/ids.ts';
import type { TaskTable } from '../task/task-table.ts';

/** The queue that a lane stands in: see `ready-queue.ts`. */
interface QueueOfLanes {
  update(lane: Lane): void;
}

/** The dag whose limit holds a lane back. */
interface LimitedDag {
  hasRoomForTask(): boolean;
}

export class Lane {
  readonly dag: LimitedDag;
  readonly queue: QueueOfLanes;
  readonly priority: number;
  /** Place among the active lanes of its queue; -1 when it is empty or held back. */
  place = -1;
  ready = 0;
  /** How many of them its queue counts as waiting. */
  counted = 0;
  private readonly runIds: number[] = [];
  private readonly slots: TaskSlot[] = [];

  private readonly tasks: Pick<TaskTable, 'no'>;

  constructor(dag: LimitedDag, queue: QueueOfLanes, priority: number, tasks: Pick<TaskTable, 'no'>) {
    this.tasks = tasks;
    this.dag = dag;
    this.queue = queue;
    this.priority = priority;
  }

  get size(): number {
    return this.slots.length;
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

  clear(): void {
    this.runIds.length = 0;
    this.slots.length = 0;
    this.ready = 0;
  }

  isMostlyStale(): boolean {
    return this.slots.length > 2 * this.ready + 64;
  }

  /** Drops entries that are out of date (I73). */
  compact(isReady: (runId: number, slot: TaskSlot) => boolean): void {
    const runIds = this.runIds.splice(0);
    const slots = this.slots.splice(0);
    slots.forEach((slot, i) => {
      if (isReady(runIds[i]!, slot)) this.push(runIds[i]!, slot);
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
