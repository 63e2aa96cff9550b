/** What loads and fetches see: computed from the committed rows at the instant when the request is there. */
import type { Priority, ShardNo, StoredShard, WorkerId } from '@signalbox/engine';
import { PRIORITIES, shardOfRun } from '@signalbox/engine';
import { byId, Gathering, liveRuns, type RunRow, readLive } from '@signalbox/engine/testing';
import type { ClusterSeen, LoadedHeads, LoadedRest, RestCursor, ShardSeen } from '@signalbox/store';
import type { Tables } from './tables.ts';

const rank = (priority: Priority): number => PRIORITIES.indexOf(priority);

/** What was read last of each shard: nodes ask all the time, and owners seldom change. */
const seenShards = new WeakMap<Tables, ShardSeen[]>();

function readShards(tables: Tables): readonly ShardSeen[] {
  const seen = seenShards.get(tables) ?? [];
  seenShards.set(tables, seen);
  for (const { shard, epoch, owner } of tables.shards.values()) {
    const known = seen[shard];
    if (known?.epoch !== epoch || known.owner !== owner) seen[shard] = { shard, epoch, owner };
  }
  return [...seen];
}

export function readCluster(tables: Tables): ClusterSeen {
  const shards = readShards(tables);
  const nodes = [...tables.nodes.values()].map(({ beatAt: _beatAt, breakEndedAt: _breakEndedAt, ...seen }) => seen);
  return { nodes, shards };
}

export function readHeads(
  tables: Tables,
  shards: readonly ShardNo[],
  headsPerPriority: number,
  dbNow: number,
): LoadedHeads {
  const live = readLive(tables, shards, headsPerPriority);
  return { ...live, shards: shards.map((shard) => readShard(tables, shard, dbNow)) };
}

export function readRest(
  tables: Tables,
  shards: readonly ShardNo[],
  after: RestCursor | null,
  limit: number,
): LoadedRest {
  const waiting = liveRuns(tables, shards)
    .filter((run) => !run.claimed && (after === null || comesAfter(run, after)))
    .sort((a, b) => shardOfRun(a.runId) - shardOfRun(b.runId) || rank(a.priority) - rank(b.priority) || byId(a, b));
  const page = waiting.slice(0, limit);
  const gathering = new Gathering(tables);
  for (const run of page) gathering.run(run);
  const { runs, dags, versions } = gathering.all();
  const last = page.at(-1);
  const next =
    last !== undefined && page.length < waiting.length
      ? { shard: shardOfRun(last.runId), priority: last.priority, afterRunId: last.runId }
      : null;
  return { runs, dags, versions, next };
}

function readShard(tables: Tables, shard: ShardNo, dbNow: number): StoredShard {
  const { epoch, commitNo, lastRunId, lastDagNo, breakEndedAt } = tables.shard(shard);
  const missedAgoMs = breakEndedAt === null ? null : Math.max(0, Math.floor(dbNow - breakEndedAt));
  const silentWorkers = [...tables.silent.values()]
    .filter((row) => row.shard === shard)
    // The database's clock may have gone back since.
    .map(({ workerId, since, servedMs }) => ({
      workerId: workerId as WorkerId,
      silentMs: Math.max(0, dbNow - since),
      servedMs,
    }));
  return { shard, epoch, commitNo, lastRunId, lastDagNo, missedAgoMs, silentWorkers };
}

function comesAfter(run: RunRow, { shard, priority, afterRunId }: RestCursor): boolean {
  const byShard = shardOfRun(run.runId) - shard;
  if (byShard !== 0) return byShard > 0;
  const byRank = rank(run.priority) - rank(priority);
  return byRank !== 0 ? byRank > 0 : run.runId > afterRunId;
}
