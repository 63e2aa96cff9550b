/**
 * Limits how many calls run at once, with at most one per key. A call whose key is in use waits, and replaces a call that
 * already waits for the same key. So the number of waiting calls is bounded by the number of keys (I73).
 */
export class KeyedLimiter<T> {
  private readonly limit: number;
  private readonly work: (item: T) => Promise<void>;
  private readonly waiting = new Map<string, T>();
  private readonly inside = new Set<string>();

  /** `work` must not reject. */
  constructor(limit: number, work: (item: T) => Promise<void>) {
    this.limit = limit;
    this.work = work;
  }

  enter(name: string, item: T): void {
    this.waiting.set(name, item);
    this.letIn();
  }

  private letIn(): void {
    for (const [name, item] of this.waiting) {
      if (this.inside.size >= this.limit) return;
      if (this.inside.has(name)) continue;
      this.waiting.delete(name);
      this.inside.add(name);
      void this.work(item).finally(() => {
        this.inside.delete(name);
        this.letIn();
      });
    }
  }
}
