/** Locks on rows: one holder each, others wait in order of their coming. */
import type { ShardNo } from '@signalbox/engine';
import type { Connection, LockKey } from './connection.ts';

interface Waiting {
  readonly connection: Connection;
  readonly granted: () => void;
}

export class RowLocks {
  readonly #holders = new Map<LockKey, Connection>();
  readonly #queues = new Map<LockKey, Waiting[]>();

  holder(row: LockKey): Connection | undefined {
    return this.#holders.get(row);
  }

  /** How many wait for a lock that another has. */
  get waiting(): number {
    let count = 0;
    for (const queue of this.#queues.values()) count += queue.filter((one) => one.connection.serverAlive).length;
    return count;
  }

  /** `granted` is called at once when the row is free, otherwise when it has become so. */
  acquire(connection: Connection, row: LockKey, granted: () => void): void {
    const holder = this.#holders.get(row);
    if (holder === undefined || holder === connection) {
      this.#holders.set(row, connection);
      connection.locked.add(row);
      return granted();
    }
    const queue = this.#queues.get(row) ?? [];
    queue.push({ connection, granted });
    this.#queues.set(row, queue);
  }

  /** One after the other. Everyone asks in the same order, so that two never wait for each other. */
  acquireAll(connection: Connection, rows: readonly LockKey[], granted: () => void, from = 0): void {
    const row = rows[from];
    if (row === undefined) return granted();
    this.acquire(connection, row, () => this.acquireAll(connection, rows, granted, from + 1));
  }

  releaseAll(connection: Connection): void {
    const freed = [...connection.locked];
    connection.locked.clear();
    for (const row of freed) this.#holders.delete(row);
    for (const row of freed) this.#grantNext(row);
  }

  #grantNext(row: LockKey): void {
    const queue = this.#queues.get(row);
    while (queue !== undefined && !this.#holders.has(row)) {
      const next = queue.shift();
      if (next === undefined) return;
      if (next.connection.serverAlive) this.acquire(next.connection, row, next.granted);
    }
  }
}

/** Each once, in order of their number. */
export function inOrder(shards: readonly ShardNo[]): readonly ShardNo[] {
  return [...new Set(shards)].sort((a, b) => a - b);
}
