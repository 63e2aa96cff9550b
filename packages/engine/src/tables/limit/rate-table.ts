/**
 * Starts per time. A limit of a task or a whole dag is of one dag, and needs no home. Of one over several dags each shard counts its own
 * starts here, and has slots for them: see `hold.ts`.
 */
import type { RateSpec } from '../../model/dag/spec.ts';
import type { ShardNo } from '../../model/ids.ts';
import { isStarts, type LimitName } from '../../model/limit.ts';
import { PlacedHeap } from '../queue/placed-heap.ts';
import { RateLimit } from './rate-limit.ts';

export class RateTable {
  private readonly byName = new Map<string, RateLimit>();
  /** Those with starts that count; the one first that is free of some first. */
  private readonly counting = new PlacedHeap<RateLimit>((a, b) => a.firstFreeAt < b.firstFreeAt);

  get isUsed(): boolean {
    return this.byName.size > 0;
  }

  get size(): number {
    return this.byName.size;
  }

  getOrAdd(shard: ShardNo, name: LimitName): RateLimit {
    const key = keyOf(shard, name);
    let rate = this.byName.get(key);
    if (rate === undefined) this.byName.set(key, (rate = new RateLimit(shard, name, this)));
    return rate;
  }

  /** Starts that count. */
  count(name: LimitName): number {
    return this.byName.get(name)?.count ?? 0;
  }

  /** Of one shard: starts that count of a limit over several. */
  countIn(shard: ShardNo, name: LimitName): number {
    return this.byName.get(keyOf(shard, name))?.count ?? 0;
  }

  find(shard: ShardNo, name: LimitName): RateLimit | undefined {
    return this.byName.get(keyOf(shard, name));
  }

  /** The dag is in memory: what its current version says counts. */
  attach(shard: ShardNo, name: LimitName, source: () => RateSpec | null): RateLimit {
    const rate = this.getOrAdd(shard, name);
    if (rate.source === null) {
      rate.source = source;
      rate.settle();
    }
    return rate;
  }

  /** After a dag says something else. */
  settle(name: LimitName): void {
    this.byName.get(name)?.settle();
  }

  /** The dag leaves memory. Starts that count are kept. */
  detach(name: LimitName): void {
    const rate = this.byName.get(name);
    if (rate === undefined) return;
    rate.source = null;
    this.watch(rate);
  }

  watch(rate: RateLimit): void {
    if (!rate.isIdle) return this.counting.put(rate);
    this.counting.remove(rate);
    if (rate.source === null) this.byName.delete(keyOf(rate.shard, rate.name));
  }

  /** By the clock that never jumps. */
  next(): number | null {
    return this.counting.top()?.firstFreeAt ?? null;
  }

  /** One with starts that count no more. */
  due(mono: number): RateLimit | undefined {
    const top = this.counting.top();
    return top !== undefined && top.firstFreeAt <= mono ? top : undefined;
  }

  drop(shards: ReadonlySet<ShardNo>): void {
    for (const [name, rate] of this.byName) {
      if (!shards.has(rate.shard)) continue;
      this.counting.remove(rate);
      this.byName.delete(name);
    }
  }
}

/** A rate of one dag has one shard; one of several dags is counted in each shard. */
function keyOf(shard: ShardNo, name: LimitName): string {
  return isStarts(name) ? `${shard} ${name}` : name;
}
