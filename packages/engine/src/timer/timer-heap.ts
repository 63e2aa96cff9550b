/**
 * What must happen later, smallest first. Entries are never removed: whoever takes one out looks whether it still
 * speaks of the present (same run, same fence, same revision).
 */
export interface Timer {
  readonly at: number;
  readonly kind: 'retry' | 'timeout' | 'kill' | 'lease' | 'window';
  /** Run id, dag id, or the worker's number, by kind. */
  readonly subject: number;
  readonly taskNo: number;
  /** Fence, or revision of the schedule. */
  readonly stamp: number;
}

export class TimerHeap {
  private readonly items: Timer[] = [];

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
    if (last === undefined || items.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && isBefore(items[child + 1]!, items[child]!)) child += 1;
      if (!isBefore(items[child]!, last)) break;
      items[at] = items[child]!;
      at = child;
    }
    items[at] = last;
    return top;
  }

  /** Some that are due: the top ones, in no order. */
  due(until: number, limit: number): Timer[] {
    const found: Timer[] = [];
    const open = [0];
    for (let at = open.pop(); at !== undefined && found.length < limit; at = open.pop()) {
      const timer = this.items[at];
      if (timer === undefined || timer.at > until) continue;
      found.push(timer);
      open.push(at * 2 + 2, at * 2 + 1);
    }
    return found;
  }

  /** Keeps what `isLive` says is still about the present: bounds the heap by live work (I73). */
  rebuild(isLive: (timer: Timer) => boolean): void {
    const live = this.items.filter(isLive);
    this.items.length = 0;
    for (const timer of live) this.push(timer);
  }
}

/** Equal times go by subject, so that two histories with the same inputs never differ. */
function isBefore(a: Timer, b: Timer): boolean {
  if (a.at !== b.at) return a.at < b.at;
  if (a.subject !== b.subject) return a.subject < b.subject;
  return a.taskNo < b.taskNo;
}
