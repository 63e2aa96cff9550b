/** Locks on the rows of shards: one holder each, others wait in order of their coming. */
import type { ShardNo } from '@signalbox/engine';
import type { Connection } from './connection.ts';

interface Waiting {
  readonly connection: Connection;
  readonly granted: () => void;
}

export class RowLocks {
  readonly #holders = new Map<ShardNo, Connection>();
  readonly #queues = new Map<ShardNo, Waiting[]>();

  holder(shard: ShardNo): Connection | undefined {
    return this.#holders.get(shard);
  }

  /** How many wait for a lock that another has. */
  get waiting(): number {
    let count = 0;
    for (const queue of this.#queues.values()) count += queue.filter((one) => one.connection.serverAlive).length;
    return count;
  }

  /** `granted` is called at once when the row is free, otherwise when it has become so. */
  acquire(connection: Connection, shard: ShardNo, granted: () => void): void {
    const holder = this.#holders.get(shard);
    if (holder === undefined || holder === connection) {
      this.#holders.set(shard, connection);
      connection.locked.add(shard);
      return granted();
    }
    const queue = this.#queues.get(shard) ?? [];
    queue.push({ connection, granted });
    this.#queues.set(shard, queue);
  }

  /** In order of their number, one after the other: two that want the same rows never wait for each other. */
  acquireAll(connection: Connection, shards: readonly ShardNo[], granted: () => void): void {
    const [first, ...rest] = [...new Set(shards)].sort((a, b) => a - b);
    if (first === undefined) return granted();
    this.acquire(connection, first, () => this.acquireAll(connection, rest, granted));
  }

  releaseAll(connection: Connection): void {
    const freed = [...connection.locked];
    connection.locked.clear();
    for (const shard of freed) this.#holders.delete(shard);
    for (const shard of freed) this.#grantNext(shard);
  }

  #grantNext(shard: ShardNo): void {
    const queue = this.#queues.get(shard);
    while (queue !== undefined && !this.#holders.has(shard)) {
      const next = queue.shift();
      if (next === undefined) return;
      if (next.connection.serverAlive) this.acquire(next.connection, shard, next.granted);
    }
  }
}
