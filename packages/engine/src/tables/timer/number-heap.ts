/** A smallest-first heap of numbers. */
export class NumberHeap<T extends number> {
  private items: T[] = [];

  get size(): number {
    return this.items.length;
  }

  peek(): T | undefined {
    return this.items[0];
  }

  push(value: T): void {
    const { items } = this;
    let at = items.length;
    items.push(value);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (items[parent]! <= value) break;
      items[at] = items[parent]!;
      at = parent;
    }
    items[at] = value;
  }

  /** Some of them, in no order; the smallest comes first. */
  first(most: number): readonly T[] {
    return this.items.slice(0, most);
  }

  /** Drops all others. A sorted row is a heap. */
  keep(isWanted: (value: T) => boolean): void {
    this.items = this.items.filter(isWanted).sort((a, b) => a - b);
  }

  pop(): T | undefined {
    const { items } = this;
    const top = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && items[child + 1]! < items[child]!) child += 1;
      if (items[child]! >= last) break;
      items[at] = items[child]!;
      at = child;
    }
    items[at] = last;
    return top;
  }
}
