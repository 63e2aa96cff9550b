/**
 * Which node owns which shard, as far as this node knows. The information can be outdated: a node that is not the owner
 * refuses, and nothing is lost.
 */
import { type Epoch, type NodeId, SHARD_COUNT, type ShardNo } from '@signalbox/engine';
import type { ShardSeen } from '@signalbox/store';
import type { ShardEpoch } from './ports.ts';

export interface Owner {
  readonly nodeId: NodeId;
  readonly epoch: Epoch;
}

export class Directory {
  private readonly owners: (Owner | null)[] = Array.from({ length: SHARD_COUNT }, () => null);
  private readonly epochs = new Int32Array(SHARD_COUNT);
  /** Commands that wait for an owner: tens of thousands while the database is unreachable. */
  private waiters = new Set<() => void>();

  ownerOf(shard: ShardNo): Owner | null {
    return this.owners[shard] ?? null;
  }

  /** The nodes that own something, each with its shards. */
  shardsByNode(): Map<NodeId, ShardNo[]> {
    const shards = new Map<NodeId, ShardNo[]>();
    this.owners.forEach((owner, shard) => {
      if (owner === null) return;
      const known = shards.get(owner.nodeId);
      if (known === undefined) shards.set(owner.nodeId, [shard as ShardNo]);
      else known.push(shard as ShardNo);
    });
    return shards;
  }

  /** The highest epoch heard of each shard that has had an owner. */
  knownEpochs(): ShardEpoch[] {
    const known: ShardEpoch[] = [];
    this.epochs.forEach((epoch, shard) => {
      if (epoch > 0) known.push({ shard: shard as ShardNo, epoch: epoch as Epoch });
    });
    return known;
  }

  update(seen: readonly ShardSeen[]): void {
    let isChanged = false;
    for (const { shard, epoch, owner } of seen) {
      if (epoch < this.epochs[shard]!) continue;
      const known = this.owners[shard] ?? null;
      if (owner === known?.nodeId && epoch === known?.epoch) continue;
      if (owner === null && known === null) continue;
      isChanged = true;
      this.owners[shard] = owner === null ? null : { nodeId: owner, epoch };
      this.epochs[shard] = epoch;
    }
    if (isChanged) this.tellWaiters();
  }

  /** A new owner has said so itself. */
  announce(nodeId: NodeId, epochs: readonly ShardEpoch[]): void {
    this.update(epochs.map(({ shard, epoch }) => ({ shard, epoch, owner: nodeId })));
  }

  /** Runs once when an owner changes. The answer forgets it. */
  onChange(run: () => void): () => void {
    this.waiters.add(run);
    return () => void this.waiters.delete(run);
  }

  private tellWaiters(): void {
    const waiters = this.waiters;
    this.waiters = new Set();
    for (const run of waiters) run();
  }
}
