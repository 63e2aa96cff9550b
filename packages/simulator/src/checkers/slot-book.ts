/** What the journal says of limits that span shards: the limits, what their homes gave, what shards have, and what runs. */
import type { Change, LimitName, ShardNo, SlotsGranted, SlotsHeld } from '@signalbox/engine';
import { CLUSTER_LIMIT, isPool, NOBODY, poolLimit, queueLimit, SHARD_COUNT, tenantLimit } from '@signalbox/engine';
import type { RunBook } from './books.ts';
import { taskSpecOf } from './map-book.ts';

export interface SlotsOfTask {
  readonly limit: LimitName;
  readonly slots: number;
}

export class SlotBook {
  readonly limits = new Map<LimitName, { readonly slots: number | null; readonly sinceNo: number }>();
  readonly grants = new Map<string, SlotsGranted>();
  readonly holds = new Map<string, SlotsHeld>();
  readonly #live: ReadonlySet<RunBook>;

  constructor(live: ReadonlySet<RunBook>) {
    this.#live = live;
  }

  apply(change: Change): void {
    if (change.kind === 'LimitSet') this.limits.set(change.limit, change);
    if (change.kind === 'SlotsGranted') this.grants.set(keyOf(change.holder, change.limit), change);
    if (change.kind === 'SlotsHeld') this.holds.set(keyOf(change.shard, change.limit), change);
  }

  grant(holder: ShardNo, limit: LimitName): SlotsGranted | undefined {
    return this.grants.get(keyOf(holder, limit));
  }

  hold(shard: ShardNo, limit: LimitName): SlotsHeld | undefined {
    return this.holds.get(keyOf(shard, limit));
  }

  /** What a task takes, whether there is such a limit or not. */
  takenBy(run: RunBook, taskNo: number): SlotsOfTask[] {
    const { tenantId } = run.created;
    const { queue, pool } = taskSpecOf(run, taskNo);
    const caps = [CLUSTER_LIMIT, tenantLimit(tenantId), queueLimit(tenantId, queue)];
    const taken = caps.map((limit) => ({ limit, slots: 1 }));
    return pool === undefined ? taken : [...taken, { limit: poolLimit(tenantId, pool.name), slots: pool.slots }];
  }

  /** Slots that running attempts take, of one shard or of all. */
  used(limit: LimitName, shard: ShardNo | null = null): number {
    let used = 0;
    for (const run of this.#live) {
      if (run.isSetAside || (shard !== null && run.shard !== shard)) continue;
      for (const { taskNo, state, workerId, speculative } of run.tasks.values()) {
        if (state !== 'running' || workerId === NOBODY) continue;
        const taken = this.takenBy(run, taskNo).find((one) => one.limit === limit);
        used += (taken?.slots ?? 0) * (speculative === null ? 1 : 2);
      }
    }
    return used;
  }

  /** What the home has given and not heard to be back. */
  out(limit: LimitName): number {
    let out = 0;
    for (const grant of this.grants.values())
      if (grant.limit === limit) out += grant.given + grant.seized - grant.returned;
    return out;
  }

  /** Set, and all slots beyond it are back. */
  holdsFirmly(limit: LimitName): boolean {
    const { slots, sinceNo } = this.limits.get(limit) ?? { slots: null, sinceNo: 0 };
    if (slots === null || this.out(limit) > slots) return false;
    if (isPool(limit)) return true;
    const heard = [...this.grants.values()].filter((one) => one.limit === limit && one.heardNo >= sinceNo);
    return heard.length === SHARD_COUNT;
  }

  /** There is room for the task, and for any other that may come first. */
  /** How many limits over shards it takes slots of. */
  limitCount(run: RunBook, taskNo: number): number {
    return this.takenBy(run, taskNo).filter(({ limit }) => this.limits.get(limit)?.slots != null).length;
  }

  hasRoom(run: RunBook, taskNo: number, largest: number): boolean {
    return this.takenBy(run, taskNo).every(({ limit }) => {
      const { slots = null } = this.limits.get(limit) ?? {};
      if (slots === null) return !isPool(limit) && this.hold(run.shard, limit)?.isLimited !== true;
      return slots - this.used(limit) >= (isPool(limit) ? largest : 1);
    });
  }
}

function keyOf(shard: ShardNo, limit: LimitName): string {
  return `${shard} ${limit}`;
}
