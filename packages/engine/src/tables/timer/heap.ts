/** A heap of anything, in the order of `isBefore`. */
export class Heap<T> {
  private readonly isBefore: (a: T, b: T) => boolean;
  private items: T[] = [];

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.isBefore = isBefore;
  }

  get size(): number {
    return this.items.length;
  }

  peek(): T | undefined {
    return this.items[0];
  }

  push(item: T): void {
    const { items, isBefore } = this;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(item, items[parent]!)) break;
      items[at] = items[parent]!;
      at = parent;
    }
    items[at] = item;
  }

  pop(): T | undefined {
    const { items, isBefore } = this;
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

  /** The first ones that pass, in order; they stay. Whatever comes after one that does not pass must not pass either. */
  first(limit: number, passes: (item: T) => boolean): T[] {
    const { items, isBefore } = this;
    const found: T[] = [];
    // Places that may come next: an item comes after the one above it.
    const open = new Heap<number>((a, b) => isBefore(items[a]!, items[b]!));
    const add = (place: number) => {
      if (place < items.length && passes(items[place]!)) open.push(place);
    };
    add(0);
    while (found.length < limit) {
      const place = open.pop();
      if (place === undefined) break;
      found.push(items[place]!);
      add(place * 2 + 1);
      add(place * 2 + 2);
    }
    return found;
  }

  /** Takes out everything, in no order. */
  clear(): T[] {
    const { items } = this;
    this.items = [];
    return items;
  }
}
