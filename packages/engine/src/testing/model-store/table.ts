/**
 * A table of the model store. Rows are never altered, only replaced, and each replacement can be undone: a commit that breaks
 * a constraint leaves nothing behind.
 */
export class UndoLog {
  #steps: (() => void)[] = [];

  note(step: () => void): void {
    this.#steps.push(step);
  }

  keep(): void {
    this.#steps = [];
  }

  undo(): void {
    for (const step of this.#steps.reverse()) step();
    this.#steps = [];
  }
}

export class Table<K, V> {
  readonly #rows = new Map<K, V>();
  readonly #log: UndoLog;

  constructor(log: UndoLog) {
    this.#log = log;
  }

  get(key: K): V | undefined {
    return this.#rows.get(key);
  }

  has(key: K): boolean {
    return this.#rows.has(key);
  }

  set(key: K, row: V): void {
    const before = this.#rows.get(key);
    this.#log.note(before === undefined ? () => this.#rows.delete(key) : () => this.#rows.set(key, before));
    this.#rows.set(key, row);
  }

  delete(key: K): void {
    const before = this.#rows.get(key);
    if (before === undefined) return;
    this.#log.note(() => this.#rows.set(key, before));
    this.#rows.delete(key);
  }

  values(): IterableIterator<V> {
    return this.#rows.values();
  }

  get size(): number {
    return this.#rows.size;
  }

  /** A copy. */
  toMap(): Map<K, V> {
    return new Map(this.#rows);
  }
}
