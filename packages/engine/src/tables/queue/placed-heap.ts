/** A binary heap whose entries know their place, so that an entry whose order has changed is moved instead of searched for. */
export class PlacedHeap<T extends { place: number }> {
  private readonly entries: T[] = [];
  private readonly isBefore: (a: T, b: T) => boolean;

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.isBefore = isBefore;
  }

  get size(): number {
    return this.entries.length;
  }

  top(): T | undefined {
    return this.entries[0];
  }

  /** In no order. */
  all(): readonly T[] {
    return this.entries;
  }

  /** Adds the entry, or moves it to where it belongs now. */
  put(entry: T): void {
    if (entry.place < 0) {
      entry.place = this.entries.length;
      this.entries.push(entry);
    }
    if (this.entries.length === 1) return;
    this.siftUp(entry.place);
    this.siftDown(entry.place);
  }

  remove(entry: T): void {
    const at = entry.place;
    if (at < 0) return;
    const last = this.entries.pop()!;
    entry.place = -1;
    if (last === entry) return;
    this.entries[at] = last;
    last.place = at;
    this.siftUp(at);
    this.siftDown(last.place);
  }

  /** After the order of many entries has changed. */
  rebuild(): void {
    for (let at = (this.entries.length >> 1) - 1; at >= 0; at--) this.siftDown(at);
  }

  private siftUp(from: number): void {
    const { entries, isBefore } = this;
    let at = from;
    const entry = entries[at]!;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(entry, entries[parent]!)) break;
      entries[at] = entries[parent]!;
      entries[at]!.place = at;
      at = parent;
    }
    entries[at] = entry;
    entry.place = at;
  }

  private siftDown(from: number): void {
    const { entries, isBefore } = this;
    let at = from;
    const entry = entries[at]!;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= entries.length) break;
      if (child + 1 < entries.length && isBefore(entries[child + 1]!, entries[child]!)) child += 1;
      if (!isBefore(entries[child]!, entry)) break;
      entries[at] = entries[child]!;
      entries[at]!.place = at;
      at = child;
    }
    entries[at] = entry;
    entry.place = at;
  }
}
