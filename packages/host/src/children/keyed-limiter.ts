/**
 * Lets so many in at one time, and one of a name: who comes while another of its name is inside waits for it, and takes the place
 * of whoever waits under that name already. So what waits is bounded by the names there are (I73).
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
