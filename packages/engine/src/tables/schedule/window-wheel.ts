/**
 * When schedules fire next. Entries wait in one bucket per second, unordered; only those of seconds that have come are
 * ordered. So an entry costs the same however many there are. A bucket is ordered once, by a sort that is quick with rows of
 * entries that are in order already, as they come from the database: a hundred thousand of one second hold up nobody.
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
  /** All of seconds that have come, in order; those before `nextNo` are taken out. */
  private near: Watch[] = [];
  private nextNo = 0;
  /** What was added to those seconds since. */
  private readonly late = new Heap<Watch>(isBefore);
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
    if (watch.at < this.nearUntil) return this.late.push(watch);
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
    const near = this.first();
    if (near !== undefined) return near.at;
    const second = this.seconds.peek();
    return second === undefined ? null : this.buckets.get(second)!.firstAt;
  }

  /** The first one, if it is due by then. */
  peek(until: number): Watch | undefined {
    this.open(until);
    const first = this.first();
    return first !== undefined && first.at <= until ? first : undefined;
  }

  /** Takes out the one that `peek` has shown. */
  pop(): void {
    const first = this.first();
    if (first === undefined) return;
    this.count -= 1;
    if (first !== this.near[this.nextNo]) this.late.pop();
    else if (++this.nextNo === this.near.length) [this.near, this.nextNo] = [[], 0];
  }

  /** Those that will be taken out first, in that order, if they are due. Costs what it finds, not what is due. */
  due(until: number, limit: number): Watch[] {
    this.open(until);
    const isDue = ({ at }: Watch) => at <= until;
    const near: Watch[] = [];
    for (let no = this.nextNo; near.length < limit && no < this.near.length && isDue(this.near[no]!); no++) {
      near.push(this.near[no]!);
    }
    const late = this.late.first(limit, isDue);
    return late.length === 0 ? near : [...near, ...late].sort(inOrder).slice(0, limit);
  }

  /** Once it has grown to twice what the last sweep left: each entry pays for its own sweeping. */
  sweepIfDue(): void {
    if (this.count <= 2 * this.keptBySweep + SWEEP_FROM) return;
    const all = [...this.near.slice(this.nextNo), ...this.late.clear()];
    [this.near, this.nextNo] = [[], 0];
    for (const { watches } of this.buckets.values()) for (const watch of watches) all.push(watch);
    this.buckets.clear();
    this.seconds.clear();
    this.nearUntil = Number.NEGATIVE_INFINITY;
    this.count = 0;
    for (const watch of all) if (isLive(watch)) this.push(watch);
    this.keptBySweep = this.count;
  }

  private first(): Watch | undefined {
    const [near, late] = [this.near[this.nextNo], this.late.peek()];
    if (near === undefined || late === undefined) return near ?? late;
    return isBefore(late, near) ? late : near;
  }

  /** Orders the seconds that have come. They come after all that is in order already. */
  private open(until: number): void {
    for (let second = this.seconds.peek(); second !== undefined; second = this.seconds.peek()) {
      if (second * SECOND_MS > until) return;
      this.seconds.pop();
      this.nearUntil = (second + 1) * SECOND_MS;
      const watches = this.buckets.get(second)!.watches.sort(inOrder);
      if (this.near.length === 0) this.near = watches;
      else for (const watch of watches) this.near.push(watch);
      this.buckets.delete(second);
    }
  }
}

/** Its schedule has not changed since, and has not decided that window yet. */
export function isLive(watch: Watch): boolean {
  return watch.schedule.watch === watch;
}

/** Equal times go by dag and number, so that two histories with the same inputs never differ. */
function inOrder(a: Watch, b: Watch): number {
  return a.at - b.at || a.schedule.dagId - b.schedule.dagId || a.schedule.scheduleNo - b.schedule.scheduleNo;
}

function isBefore(a: Watch, b: Watch): boolean {
  return inOrder(a, b) < 0;
}
