/** A limit that lanes are under: how much of it is used, and which lanes wait for it. A lane without room leaves its queue (I47). */
import type { LimitName } from '../../model/limit.ts';

/** A lane that waits for slots of this limit: see `tables/queue/lane.ts`. */
interface WaitingLane {
  slotsIn(limit: LaneLimit): number;
  update(): void;
}

export interface Wanted {
  readonly priority: number;
  /** What each task takes. */
  readonly slots: number;
  /** Tasks more than before; below 0: fewer. */
  readonly more: number;
  /** The lane has tasks that only limits hold back, this one or others: it must hear when there is room. */
  readonly isWaiting: boolean;
}

export abstract class LaneLimit {
  readonly name: LimitName;
  /** By running attempts. */
  used = 0;
  /** Lanes with tasks that only limits hold back. */
  private readonly lanes = new Set<WaitingLane>();
  /** Slots that tasks want which no earlier limit holds back, by class and by slots of each task. */
  private readonly waiting = new Map<number, number[]>();
  private knownRoom = 0;

  constructor(name: LimitName) {
    this.name = name;
  }

  /** For new tasks. */
  abstract get room(): number;

  hasRoom(slots: number): boolean {
    return this.room >= slots;
  }

  use(slots: number): void {
    this.used += slots;
    this.settle();
  }

  /** After `room` may have changed: tells the lanes that have room now, or have none any more. */
  settle(): void {
    const { room, knownRoom: before } = this;
    if (room === before) return;
    this.knownRoom = room;
    const [low, high] = room < before ? [room, before] : [before, room];
    if (high < 1) return;
    for (const lane of this.lanes) {
      const slots = lane.slotsIn(this);
      if (slots > low && slots <= high) lane.update();
    }
  }

  /** More or fewer tasks of the lane want slots of this limit. */
  want(lane: WaitingLane, { priority, slots, more, isWaiting }: Wanted): void {
    if (isWaiting) this.lanes.add(lane);
    else this.lanes.delete(lane);
    let counts = this.waiting.get(slots);
    if (counts === undefined) {
      counts = [];
      this.waiting.set(slots, counts);
    }
    counts[priority] = (counts[priority] ?? 0) + more * slots;
  }

  /** Slots that its waiting tasks take. */
  waits(): number {
    let sum = 0;
    for (const counts of this.waiting.values()) for (const count of counts) sum += count ?? 0;
    return sum;
  }

  /** What the smallest of them takes, of those that take more than `above`; 0 when none waits. */
  least(above = 0): number {
    let least = 0;
    for (const [slots, counts] of this.waiting)
      if (slots > above && counts.some((count) => count > 0) && (least === 0 || slots < least)) least = slots;
    return least;
  }

  /** The best class that waits. */
  best(): number {
    let best = Number.MAX_SAFE_INTEGER;
    for (const counts of this.waiting.values()) {
      const at = counts.findIndex((count) => count > 0);
      if (at >= 0 && at < best) best = at;
    }
    return best;
  }
}

/** Of one dag: a task over all runs, or all tasks of one run. It needs no home: a dag never crosses a shard. */
export class OwnLimit extends LaneLimit {
  private readonly limitOf: () => number | null;
  /** With those of other versions of the same task: what runs counts in all of them. */
  private readonly all: Set<OwnLimit>;

  constructor(name: LimitName, limitOf: () => number | null, others?: OwnLimit) {
    super(name);
    this.limitOf = limitOf;
    this.all = others?.all ?? new Set();
    this.all.add(this);
    this.used = others?.used ?? 0;
    this.settle();
  }

  override use(slots: number): void {
    for (const one of this.all) {
      one.used += slots;
      one.settle();
    }
  }

  get room(): number {
    return (this.limitOf() ?? Number.POSITIVE_INFINITY) - this.used;
  }
}
