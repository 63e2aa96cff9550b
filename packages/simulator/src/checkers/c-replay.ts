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
import { isSame } from '../same.ts';
import { WORLD_BEGAN_AT } from '../world/process.ts';
import type { Checker, Scene } from './checker.ts';

const EVERY_MS = 10_000;
const EVER = Number.POSITIVE_INFINITY;

/** How much is told of what comes before the first difference, and after it. */
const AROUND = 400;

/** Null when both say the same. Most do: text is made only to tell what differs. */
function whereTheyDiffer(one: unknown, other: unknown): readonly [string, string] | null {
  if (isSame(one, other)) return null;
  const [a, b] = [JSON.stringify(one), JSON.stringify(other)];
  if (a === b) return null;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  const around = (text: string) => `… ${text.slice(Math.max(0, at - AROUND), at + AROUND)} …`;
  return [around(a), around(b)];
}

function hasFarSchedules(state: State, shard: ShardNo, nearUntil: number): boolean {
  for (const { shard: own, dueAt } of state.schedules.values())
    if (own === shard && (dueAt ?? EVER) > nearUntil) return true;
  return false;
}

export function replay(scene: Scene): Checker {
  const { world, ledger } = scene;
  const replayed = new State(world.settings);
  replayed.isReplay = true;
  const touched = new Set<ShardNo>();
  /** Those of which something was committed, or which were taken, since they were last found to be the same. */
  const stale = new Set<ShardNo>();
  let nextAt = EVERY_MS;

  function load(shards: readonly ShardNo[], settings: State['settings']): State {
    const loaded = new State(settings);
    const heads = readHeads(world.database.tables, shards, Number.POSITIVE_INFINITY, world.database.now());
    const wall = (WORLD_BEGAN_AT + world.now) as State['now'];
    adoptShards(loaded, heads, { wall, mono: 0 });
    for (const row of world.database.tables.schedules.values()) {
      if (shards.includes(row.shard) && row.dueAt !== RESIDENT) restoreSchedule(loaded, row);
    }
    return loaded;
  }

  function compare(shards: readonly ShardNo[]): void {
    if (shards.length === 0) return;
    const loaded = load(shards, world.settings);
    // A load by newer zone data moves what was decided; the journal has that once it is stored (docs/decisions/0096).
    const asStored = world.zones.edition === 1 ? loaded : load(shards, { ...world.settings, zoneDataOf: () => null });
    for (const shard of shards) {
      const fromRows = describeShard(asStored, shard, EVER);
      const differ = whereTheyDiffer(describeShard(replayed, shard, EVER), fromRows);
      if (differ !== null) scene.fail('I19', `shard ${shard} by its journal is ${differ[0]}, by its rows ${differ[1]}`);
      const live = liveState(shard);
      if (live === null) continue;
      stale.delete(shard);
      // What is due later may be in memory, or in the database only.
      const { nearUntil } = live.shards.get(shard)!;
      const near =
        asStored === loaded && !hasFarSchedules(loaded, shard, nearUntil)
          ? fromRows
          : describeShard(loaded, shard, nearUntil);
      const differs = whereTheyDiffer(describeShard(live, shard, nearUntil), near);
      if (differs !== null)
        scene.fail('I19', `shard ${shard} by its owner is ${differs[0]}, by its rows ${differs[1]}`);
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
    // Some live runs of its shards are not in memory yet.
    if (state === null || state.partial.size > 0) return null;
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
