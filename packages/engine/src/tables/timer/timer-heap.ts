/**
 * What must happen later, smallest first. Entries are never removed: the code that takes one out checks whether it is still
 * valid (same run, same fence, same revision).
 */
export interface Timer {
  readonly at: number;
  readonly kind:
    | 'retry'
    | 'timeout'
    | 'kill'
    | 'queue'
    | 'soft'
    | 'stuck'
    | 'total'
    | 'pace'
    | 'run'
    | 'run_slow'
    | 'call'
    | 'resume'
    | 'lease'
    | 'breaker'
    | 'budget'
    | 'held'
    | 'past';
  /** Run id, dag id, or the worker's number, by kind. */
  readonly subject: number;
  readonly taskNo: number;
  /** Fence, or fingerprint of a breaker's error. */
  readonly stamp: number;
}

/** Fewer dead ones than this are not worth a sweep. */
const SWEEP_FROM = 4_096;

export class TimerHeap {
  private items: Timer[] = [];
  private keptBySweep = 0;

  get size(): number {
    return this.items.length;
  }

  peek(): Timer | undefined {
    return this.items[0];
  }

  push(timer: Timer): void {
    const { items } = this;
    let at = items.length;
    items.push(timer);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(timer, items[parent]!)) break;
      items[at] = items[parent]!;
      at = parent;
    }
    items[at] = timer;
  }

  pop(): Timer | undefined {
    const { items } = this;
    const top = items[0];
    const last = items.pop();
    if (last !== undefined && items.length > 0) this.siftDown(0, last);
    return top;
  }

  /** Those that will be taken out first, in that order, if they are due. Costs what it finds, not what is due. */
  due(until: number, limit: number): Timer[] {
    const found: Timer[] = [];
    // What may come next, each with its place: a timer comes after the one above it.
    const open = new TimerHeap();
    const add = (place: number) => {
      const timer = this.items[place];
      if (timer !== undefined && timer.at <= until) open.push({ ...timer, stamp: place });
    };
    add(0);
    for (let next = open.pop(); next !== undefined && found.length < limit; next = open.pop()) {
      found.push(this.items[next.stamp]!);
      add(next.stamp * 2 + 1);
      add(next.stamp * 2 + 2);
    }
    return found;
  }

  /** It has grown to twice what the last sweep left: each entry pays for its own sweeping. */
  isDueForSweep(): boolean {
    return this.items.length > 2 * this.keptBySweep + SWEEP_FROM;
  }

  /** Keeps what `isLive` says is still about the present. */
  sweep(isLive: (timer: Timer) => boolean): void {
    this.items = this.items.filter(isLive);
    this.keptBySweep = this.items.length;
    for (let at = (this.items.length >> 1) - 1; at >= 0; at--) this.siftDown(at, this.items[at]!);
  }

  private siftDown(from: number, timer: Timer): void {
    const { items } = this;
    let at = from;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && isBefore(items[child + 1]!, items[child]!)) child += 1;
      if (!isBefore(items[child]!, timer)) break;
      items[at] = items[child]!;
      at = child;
    }
    items[at] = timer;
  }
}

/** Equal times go by subject, so that two histories with the same inputs never differ. */
function isBefore(a: Timer, b: Timer): boolean {
  if (a.at !== b.at) return a.at < b.at;
  if (a.subject !== b.subject) return a.subject < b.subject;
  return a.taskNo < b.taskNo;
}
