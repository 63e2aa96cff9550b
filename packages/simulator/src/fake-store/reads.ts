/** What loads and fetches see: computed from the committed rows at the instant when the request is there. */
import type {
  DagId,
  Need,
  Priority,
  RunId,
  Seen,
  ShardNo,
  StoredDag,
  StoredDeadLetter,
  StoredKey,
  StoredRun,
  StoredSchedule,
  StoredShard,
  StoredVersion,
  VersionNo,
  WorkerId,
} from '@signalbox/engine';
import { deadLetterName, PRIORITIES, shardOfRun } from '@signalbox/engine';
import type { ClusterSeen, LoadedHeads, LoadedRest, RestCursor } from '@signalbox/store';
import { dagNameKey, type RunRow, storedKeyKey, type Tables, versionKey } from './tables.ts';

const rank = (priority: Priority): number => PRIORITIES.indexOf(priority);

export function readCluster(tables: Tables): ClusterSeen {
  const shards = [...tables.shards.values()].map(({ shard, epoch, owner }) => ({ shard, epoch, owner }));
  const nodes = [...tables.nodes.values()].map(({ beatAt: _beatAt, breakEndedAt: _breakEndedAt, ...seen }) => seen);
  return { nodes, shards };
}

export function readHeads(
  tables: Tables,
  shards: readonly ShardNo[],
  headsPerPriority: number,
  dbNow: number,
): LoadedHeads {
  const live = liveRuns(tables, shards);
  const claimed = live.filter((run) => run.claimed);
  const waiting = live.filter((run) => !run.claimed);
  const taken = new Map<string, number>();
  const heads = waiting.filter((run) => {
    const group = `${shardOfRun(run.runId)}/${run.priority}`;
    const count = taken.get(group) ?? 0;
    taken.set(group, count + 1);
    return count < headsPerPriority;
  });
  const admitted = new Map<DagId, number>();
  for (const run of live) if (run.admitted) admitted.set(run.dagId, (admitted.get(run.dagId) ?? 0) + 1);
  const gathering = new Gathering(tables);
  for (const run of [...claimed, ...heads].sort(byId)) gathering.run(run);
  for (const schedule of tables.schedules.values()) if (shards.includes(schedule.shard)) gathering.schedule(schedule);
  return {
    ...gathering.all(),
    shards: shards.map((shard) => readShard(tables, shard, dbNow)),
    breakers: [...tables.breakers.values()].filter(({ shard }) => shards.includes(shard)),
    admitted: [...admitted].map(([dagId, count]) => ({ dagId, admitted: count })),
    complete: heads.length === waiting.length,
  };
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

export function readNeeds(tables: Tables, needs: readonly Need[]): Seen {
  const gathering = new Gathering(tables);
  const keys = new Map<string, StoredKey>();
  const deadLetters = new Map<string, StoredDeadLetter>();
  for (const need of needs) {
    switch (need.kind) {
      case 'run':
        gathering.runOf(need.runId);
        break;
      case 'run_uid': {
        const runId = tables.runUids.get(need.uid);
        if (runId !== undefined && shardOfRun(runId) === need.shard) gathering.runOf(runId);
        break;
      }
      case 'dag':
        gathering.dag(need.dagId, need.shard);
        break;
      case 'dag_name': {
        const dagId = tables.dagNames.get(dagNameKey(need.tenantId, need.name));
        if (dagId !== undefined) gathering.dag(dagId, need.shard);
        break;
      }
      case 'version':
        if (tables.dags.get(need.dagId)?.shard === need.shard) gathering.version(need.dagId, need.versionNo);
        break;
      case 'key': {
        const key = tables.keys.get(storedKeyKey(need));
        if (key !== undefined) keys.set(storedKeyKey(key), key);
        break;
      }
      case 'deadLetter': {
        const deadLetter = tables.deadLetters.get(deadLetterName(need));
        if (deadLetter !== undefined) deadLetters.set(deadLetterName(deadLetter), deadLetter);
        break;
      }
      default:
        need satisfies never;
    }
  }
  return { ...gathering.all(), keys: [...keys.values()], deadLetters: [...deadLetters.values()] };
}

/** Each thing once, with what it can't be used without: a run with its dag and version, a dag with its current version. */
class Gathering {
  readonly #tables: Tables;
  readonly #runs = new Map<RunId, StoredRun>();
  readonly #dags = new Map<DagId, StoredDag>();
  readonly #versions = new Map<string, StoredVersion>();
  readonly #schedules = new Map<DagId, StoredSchedule>();

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  runOf(runId: RunId): void {
    const row = this.#tables.runs.get(runId);
    if (row !== undefined) this.run(row);
  }

  run({ claimed: _claimed, ...run }: RunRow): void {
    const tasks = [...(this.#tables.tasks.get(run.runId)?.values() ?? [])].sort((a, b) => a.taskNo - b.taskNo);
    this.#runs.set(run.runId, { ...run, tasks });
    this.dag(run.dagId, shardOfRun(run.runId));
    this.version(run.dagId, run.versionNo);
  }

  dag(dagId: DagId, shard: ShardNo): void {
    const row = this.#tables.dags.get(dagId);
    if (row === undefined || row.shard !== shard) return;
    this.#dags.set(dagId, { ...row, tenant: this.#tables.tenants.get(row.tenantId) ?? '' });
    this.version(dagId, row.versionNo);
    const schedule = this.#tables.schedules.get(dagId);
    if (schedule !== undefined) this.#schedules.set(dagId, schedule);
  }

  version(dagId: DagId, versionNo: VersionNo): void {
    const version = this.#tables.versions.get(versionKey(dagId, versionNo));
    if (version !== undefined) this.#versions.set(versionKey(dagId, versionNo), version);
  }

  schedule({ dagId, shard }: StoredSchedule): void {
    this.dag(dagId, shard);
  }

  all() {
    return {
      runs: [...this.#runs.values()],
      dags: [...this.#dags.values()],
      versions: [...this.#versions.values()],
      schedules: [...this.#schedules.values()],
    };
  }
}

function liveRuns(tables: Tables, shards: readonly ShardNo[]): RunRow[] {
  const rows = shards.flatMap((shard) => [...tables.liveOf(shard).values()].map((runId) => tables.runs.get(runId)));
  return rows.filter((row) => row !== undefined).sort(byId);
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

function byId(a: RunRow, b: RunRow): number {
  return a.runId - b.runId;
}
