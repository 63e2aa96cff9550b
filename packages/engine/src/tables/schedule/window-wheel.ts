/**
 * When schedules fire next. Entries wait in one bucket per second, unordered; only those of seconds that have come are
 * ordered. So an entry costs the same however many there are.
 *
 * An entry counts while it is the one that its schedule points at (`schedule.watch`). Others are passed over, and swept from
 * time to time (I73).
 */
import { Heap } from '../timer/heap.ts';
import type { Watch } from './schedule.ts';

interface Bucket {
  readonly watches: Watch[];
  firstAt: number;
}

const SECOND_MS = 1_000;
/** Fewer dead ones than this are not worth a sweep. */
const SWEEP_FROM = 4_096;

export class WindowWheel {
  /** All of seconds that have come, and what was added to them since. */
  private readonly near = new Heap<Watch>(isBefore);
  private nearUntil = Number.NEGATIVE_INFINITY;
  private readonly buckets = new Map<number, Bucket>();
  private readonly seconds = new Heap<number>((a, b) => a < b);
  private count = 0;
  private keptBySweep = 0;

  get size(): number {
    return this.count;
  }

  push(watch: Watch): void {
    this.count += 1;
    if (watch.at < this.nearUntil) return this.near.push(watch);
    const second = Math.floor(watch.at / SECOND_MS);
    const bucket = this.buckets.get(second);
    if (bucket === undefined) {
      this.buckets.set(second, { watches: [watch], firstAt: watch.at });
      this.seconds.push(second);
    } else {
      bucket.watches.push(watch);
      bucket.firstAt = Math.min(bucket.firstAt, watch.at);
    }
  }

  /** When the first one is due; null when there is none. Dead ones count. */
  firstAt(): number | null {
    const near = this.near.peek();
    if (near !== undefined) return near.at;
    const second = this.seconds.peek();
    return second === undefined ? null : this.buckets.get(second)!.firstAt;
  }

  /** The first one, if it is due by then. */
  peek(until: number): Watch | undefined {
    this.open(until);
    const first = this.near.peek();
    return first !== undefined && first.at <= until ? first : undefined;
  }

  /** Takes out the one that `peek` has shown. */
  pop(): void {
    if (this.near.pop() !== undefined) this.count -= 1;
  }

  /** Those that will be taken out first, in that order, if they are due. Costs what it finds, not what is due. */
  due(until: number, limit: number): Watch[] {
    this.open(until);
    return this.near.first(limit, ({ at }) => at <= until);
  }

  /** Once it has grown to twice what the last sweep left: each entry pays for its own sweeping. */
  sweepIfDue(): void {
    if (this.count <= 2 * this.keptBySweep + SWEEP_FROM) return;
    const all = this.near.clear();
    for (const { watches } of this.buckets.values()) for (const watch of watches) all.push(watch);
    this.buckets.clear();
    this.seconds.clear();
    this.nearUntil = Number.NEGATIVE_INFINITY;
    this.count = 0;
    for (const watch of all) if (isLive(watch)) this.push(watch);
    this.keptBySweep = this.count;
  }

  /** Orders the seconds that have come. */
  private open(until: number): void {
    for (let second = this.seconds.peek(); second !== undefined; second = this.seconds.peek()) {
      if (second * SECOND_MS > until) return;
      this.seconds.pop();
      this.nearUntil = (second + 1) * SECOND_MS;
      for (const watch of this.buckets.get(second)!.watches) this.near.push(watch);
      this.buckets.delete(second);
    }
  }
}

/** Its schedule has not changed since, and has not decided that window yet. */
export function isLive(watch: Watch): boolean {
  return watch.schedule.watch === watch;
}

/** Equal times go by dag and number, so that two histories with the same inputs never differ. */
function isBefore(a: Watch, b: Watch): boolean {
  if (a.at !== b.at) return a.at < b.at;
  if (a.schedule.dagId !== b.schedule.dagId) return a.schedule.dagId < b.schedule.dagId;
  return a.schedule.scheduleNo < b.schedule.scheduleNo;
}
