/** I16, I19: state equals history. The journal replayed, the rows loaded, and what a live owner has in memory are all the same. */
import {
  adoptShards,
  apply,
  describeShard,
  type Instant,
  NOTHING_NEAR,
  RESIDENT,
  restoreSchedule,
  type ShardNo,
  State,
} from '@signalbox/engine';
import { readHeads } from '../fake-store/reads.ts';
import { WORLD_BEGAN_AT } from '../world/process.ts';
import type { Checker, Scene } from './checker.ts';

const EVERY_MS = 5_000;
const EVER = Number.POSITIVE_INFINITY;

/** How much is told of what comes before the first difference, and after it. */
const AROUND = 400;

function whereTheyDiffer(a: string, b: string): readonly [string, string] {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  const around = (text: string) => `… ${text.slice(Math.max(0, at - AROUND), at + AROUND)} …`;
  return [around(a), around(b)];
}

export function replay(scene: Scene): Checker {
  const { world, ledger } = scene;
  const replayed = new State(world.settings);
  replayed.isReplay = true;
  const touched = new Set<ShardNo>();
  /** Those of which something was committed, or which were taken, since they were last found to be the same. */
  const stale = new Set<ShardNo>();
  let nextAt = EVERY_MS;

  function compare(shards: readonly ShardNo[]): void {
    if (shards.length === 0) return;
    const loaded = new State(world.settings);
    const heads = readHeads(world.database.tables, shards, Number.POSITIVE_INFINITY, world.database.now());
    const wall = (WORLD_BEGAN_AT + world.now) as State['now'];
    adoptShards(loaded, heads, { wall, mono: 0 });
    for (const row of world.database.tables.schedules.values()) {
      if (shards.includes(row.shard) && row.dueAt !== RESIDENT) restoreSchedule(loaded, row);
    }
    for (const shard of shards) {
      const fromJournal = JSON.stringify(describeShard(replayed, shard, EVER));
      const fromRows = JSON.stringify(describeShard(loaded, shard, EVER));
      if (fromJournal !== fromRows) {
        const [journal, rows] = whereTheyDiffer(fromJournal, fromRows);
        scene.fail('I19', `shard ${shard} by its journal is ${journal}, by its rows ${rows}`);
      }
      const live = liveState(shard);
      if (live === null) continue;
      stale.delete(shard);
      // What is due later may be in memory, or in the database only.
      const { nearUntil } = live.shards.get(shard)!;
      const inMemory = JSON.stringify(describeShard(live, shard, nearUntil));
      const near = JSON.stringify(describeShard(loaded, shard, nearUntil));
      if (inMemory !== near) {
        const [owner, rows] = whereTheyDiffer(inMemory, near);
        scene.fail('I19', `shard ${shard} by its owner is ${owner}, by its rows ${rows}`);
      }
    }
  }

  /** The owner's working set, if nothing of the shard is in flight. */
  function liveState(shard: ShardNo): State | null {
    const { owner, epoch, commitNo } = ledger.shard(shard);
    const node = world.nodes.find((one) => one.nodeId === owner && one.isUp);
    // A shard that is being loaded with care is not used before all of it is there.
    if (world.database.tables.shard(shard).loadCount > 2) return null;
    const state = node?.host?.inspect() ?? null;
    const held = state?.shards.get(shard);
    return held !== undefined && held.epoch === epoch && held.commitNo === commitNo ? state : null;
  }

  return {
    invariants: ['I16', 'I19'],
    onChange(change, { shards }) {
      for (const { shard, epoch, commitNo } of shards) {
        touched.add(shard);
        stale.add(shard);
        const known = replayed.shards.get(shard);
        if (known === undefined) {
          const none = 0 as State['shards'] extends Map<ShardNo, infer S>
            ? S extends { lastRunId: infer R }
              ? R
              : never
            : never;
          replayed.shards.set(shard, {
            shard,
            epoch,
            commitNo,
            lastRunId: none,
            lastDagNo: 0,
            missedUntil: 0 as Instant,
            ...NOTHING_NEAR,
          });
        }
      }
      try {
        apply(replayed, change);
      } catch (error) {
        scene.fail('I19', `the journal can't be replayed: ${String(error)} at ${JSON.stringify(change)}`);
      }
    },
    onTake({ taken }) {
      for (const { shard } of taken) if (touched.has(shard)) stale.add(shard);
    },
    onLook() {
      if (world.now < nextAt) return;
      nextAt = world.now + EVERY_MS;
      compare([...stale]);
    },
    // All of them, so that what an owner has altered without a commit is found as well.
    atEnd: () => compare([...touched]),
  };
}
