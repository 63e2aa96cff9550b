/**
 * G. Starts per time over several dags, whichever shards they are in. A start counts from its decision by the clock of the owner of its
 * shard; clocks of nodes differ a little in how fast they go. A new owner knows earlier starts by its own clock, which may be set to
 * another time, and so may that of any owner: such starts are left out.
 */
import { type LimitName, NOBODY, type ShardNo } from '@signalbox/engine';
import type { Checker, Scene } from './checker.ts';

interface Start {
  readonly at: number;
  readonly shard: ShardNo;
  readonly skewMs: number;
}

/** Of the time: clocks go faster or slower by less. */
const SURE = 0.9;

export function starts(scene: Scene): Checker {
  const { ledger, world } = scene;
  const { slots: book } = ledger;
  const byLimit = new Map<LimitName, Start[]>();

  return {
    invariants: ['I44'],
    onTake({ taken }) {
      const gone = new Set(taken.map(({ shard }) => shard));
      for (const [limit, known] of byLimit)
        byLimit.set(
          limit,
          known.filter(({ shard }) => !gone.has(shard)),
        );
    },
    onChange(change, { nodeId }) {
      // It counts from when it was set, and what starts meanwhile is not counted while there is none.
      if (change.kind === 'LimitSet' && change.slots === null) byLimit.delete(change.limit);
      if (change.kind !== 'AttemptClaimed' && change.kind !== 'SpeculativeClaimed') return;
      if (change.workerId === NOBODY) return;
      const run = ledger.run(change.runId);
      const owner = world.nodes.find((one) => one.nodeId === nodeId);
      if (owner === undefined) return;
      for (const { limit, perMs } of book.startsOf(run, change.taskNo)) {
        if (book.hold(run.shard, limit)?.isLimited !== true) continue;
        // By the time of the world.
        const at = change.at - (owner.process.wall() - world.now);
        const isSure = ({ shard, skewMs }: Start) => shard !== run.shard || skewMs === owner.skewMs;
        const counted = (byLimit.get(limit) ?? []).filter(
          (one) => isSure(one) && one.at <= at && one.at + perMs * SURE > at,
        );
        const most = book.limits.get(limit)?.slots ?? null;
        if (most !== null && book.holdsFirmly(limit) && counted.length >= most)
          scene.fail(
            'I44',
            `task ${change.runId}/${change.taskNo} was claimed at ${at}, ${limit} has started ${counted.length} of ${most}`,
          );
        byLimit.set(limit, [...counted, { at, shard: run.shard, skewMs: owner.skewMs }]);
      }
    },
  };
}
