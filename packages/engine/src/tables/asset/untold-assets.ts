/** Assets of which not all dags that wait for them have heard, and when they are told again. */
import { assets } from '../../model/change/asset.ts';
import type { ShardNo } from '../../model/ids.ts';
import { type KeyOf, keyTextOf } from '../../model/table/define-table.ts';

export type AssetRef = KeyOf<typeof assets>;

interface Untold {
  readonly ref: AssetRef;
  /** By the clock that never jumps. */
  readonly at: number;
}

export class UntoldAssets {
  private readonly byName = new Map<string, Untold>();

  get isUsed(): boolean {
    return this.byName.size > 0;
  }

  watch({ shard, tenantId, name }: AssetRef, at: number): void {
    const ref = { shard, tenantId, name };
    this.byName.set(keyTextOf(assets, ref), { ref, at });
  }

  has(ref: AssetRef): boolean {
    return this.byName.has(keyTextOf(assets, ref));
  }

  remove(ref: AssetRef): void {
    this.byName.delete(keyTextOf(assets, ref));
  }

  drop(shards: ReadonlySet<ShardNo>): void {
    for (const [name, { ref }] of this.byName) if (shards.has(ref.shard)) this.byName.delete(name);
  }

  /** When the next one is due; null when all are told. */
  next(): number | null {
    let first: number | null = null;
    for (const { at } of this.byName.values()) if (first === null || at < first) first = at;
    return first;
  }

  due(mono: number, most: number): readonly AssetRef[] {
    const found: AssetRef[] = [];
    for (const { ref, at } of this.byName.values()) {
      if (found.length === most) break;
      if (at <= mono) found.push(ref);
    }
    return found;
  }
}
