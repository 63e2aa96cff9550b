/** Limits of starts per time, of tasks and of whole dags. Each is of one dag, and needs no home. */
import type { RateSpec } from '../../model/dag/spec.ts';
import type { ShardNo } from '../../model/ids.ts';
import type { LimitName } from '../../model/limit.ts';
import { PlacedHeap } from '../queue/placed-heap.ts';
import { RateLimit } from './rate-limit.ts';

export class RateTable {
  private readonly byName = new Map<LimitName, RateLimit>();
  /** Those with starts that count; the one first that is free of some first. */
  private readonly counting = new PlacedHeap<RateLimit>((a, b) => a.firstFreeAt < b.firstFreeAt);

  get isUsed(): boolean {
    return this.byName.size > 0;
  }

  get size(): number {
    return this.byName.size;
  }

  getOrAdd(shard: ShardNo, name: LimitName): RateLimit {
    let rate = this.byName.get(name);
    if (rate === undefined) this.byName.set(name, (rate = new RateLimit(shard, name, this)));
    return rate;
  }

  /** Starts that count. */
  count(name: LimitName): number {
    return this.byName.get(name)?.count ?? 0;
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
    if (rate.source === null) this.byName.delete(rate.name);
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
