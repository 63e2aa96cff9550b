/**
 * G. Starts per time. A start counts by the clock of the owner of its shard: between two decisions of one owner that clock is exact.
 * A new owner knows by its own clock how much of the time is over; a start that lies in its future begins to count anew. After a
 * clock was set, nothing is known about earlier starts, and they are left out.
 */
import { NOBODY, type ShardNo } from '@signalbox/engine';
import type { SimNode } from '../world/node.ts';
import type { Checker, Scene } from './checker.ts';

interface Start {
  readonly at: number;
  readonly perMs: number;
}

interface ShardStarts {
  readonly owner: SimNode;
  /** How the clock of the owner was set when the first of these starts was noted. */
  readonly skewMs: number;
  readonly byRate: Map<string, Start[]>;
}

export function rates(scene: Scene): Checker {
  const { ledger, world } = scene;
  const shards = new Map<ShardNo, ShardStarts>();

  function startsFor(shard: ShardNo, owner: SimNode): Map<string, Start[]> {
    const known = shards.get(shard);
    if (known !== undefined && known.owner === owner && known.skewMs === owner.skewMs) return known.byRate;
    const byRate = new Map<string, Start[]>();
    shards.set(shard, { owner, skewMs: owner.skewMs, byRate });
    return byRate;
  }

  function handOver(shard: ShardNo, owner: SimNode | undefined): void {
    const known = shards.get(shard);
    if (known === undefined) return;
    if (owner === undefined || known.owner.skewMs !== known.skewMs) {
      shards.delete(shard);
      return;
    }
    const before = known.owner.process.wall();
    const now = owner.process.wall();
    const byRate = new Map<string, Start[]>();
    for (const [key, starts] of known.byRate) {
      // The last owner may have seen that their time is over, whatever the clock of the new one says.
      const left = starts.filter(({ at, perMs }) => at + perMs > before);
      byRate.set(
        key,
        left.map(({ at, perMs }) => ({ at: Math.min(at, now), perMs })),
      );
    }
    shards.set(shard, { owner, skewMs: owner.skewMs, byRate });
  }

  return {
    invariants: ['I44'],
    onTake({ kind, nodeId, taken }) {
      if (kind !== 'take') return;
      const owner = world.nodes.find((one) => one.nodeId === nodeId);
      for (const { shard } of taken) handOver(shard, owner);
    },
    onChange(change, { nodeId }) {
      if (change.kind !== 'AttemptClaimed' && change.kind !== 'SpeculativeClaimed') return;
      if (change.workerId === NOBODY) return;
      const run = ledger.run(change.runId);
      const limited = ledger.ratesOf(run, change.taskNo);
      if (limited.length === 0) return;
      const owner = world.nodes.find((one) => one.nodeId === nodeId);
      // It died after it had sent the commit: what its clock said is not known.
      if (owner === undefined) {
        shards.delete(run.shard);
        return;
      }
      const byRate = startsFor(run.shard, owner);
      const { at } = change;
      for (const { key, rate } of limited) {
        // Each counts for as long as the rate was when it began. One that lies ahead was decided before the clock was set, and
        // committed after that.
        const counted = (byRate.get(key) ?? []).filter((start) => start.at <= at && start.at + start.perMs > at);
        if (counted.length >= rate.limit) {
          const what = `task ${change.runId}/${change.taskNo} was claimed at ${at}`;
          scene.fail('I44', `${what}, ${key} has started ${counted.length} of ${rate.limit} in ${rate.perMs} ms`);
        }
        byRate.set(key, [...counted, { at, perMs: rate.perMs }]);
      }
    },
  };
}
