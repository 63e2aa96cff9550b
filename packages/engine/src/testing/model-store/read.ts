/** What loads and fetches read from the rows. */
import type { Heads } from '../../apply/restore.ts';
import type { StoredBackfill } from '../../model/backfill.ts';
import { deadLetterName } from '../../model/dead-letter.ts';
import {
  type DagId,
  type Instant,
  type RunId,
  type ScheduleId,
  type ShardNo,
  scheduleIdOf,
  shardOfRun,
  type VersionNo,
} from '../../model/ids.ts';
import type {
  Need,
  Seen,
  StoredDag,
  StoredDeadLetter,
  StoredKey,
  StoredRun,
  StoredSchedule,
  StoredVersion,
  StoredWindow,
} from '../../model/stored.ts';
import { type BackfillRow, dagNameKey, type ModelTables, type RunRow, storedKeyKey, versionKey } from './tables.ts';

/** What a takeover loads first: runs with a claim, and the first so many of the others per shard and priority. */
export function readLive(
  tables: ModelTables,
  shards: readonly ShardNo[],
  headsPerPriority: number,
): Omit<Heads, 'shards'> & { readonly complete: boolean } {
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
  for (const held of tables.held.values()) if (shards.includes(held.shard)) gathering.dag(held.dagId, held.shard);
  return {
    ...gathering.all(),
    held: [...tables.held.values()].filter(({ shard }) => shards.includes(shard)),
    backfills: liveBackfills(tables, shards),
    breakers: [...tables.breakers.values()].filter(({ shard }) => shards.includes(shard)),
    admitted: [...admitted].map(([dagId, count]) => ({ dagId, admitted: count })),
    complete: heads.length === waiting.length,
  };
}

export function readNeeds(tables: ModelTables, needs: readonly Need[]): Seen {
  const gathering = new Gathering(tables);
  const keys = new Map<string, StoredKey>();
  const deadLetters = new Map<string, StoredDeadLetter>();
  const windows: StoredWindow[] = [];
  const backfills: StoredBackfill[] = [];
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
      case 'windows':
        for (const at of need.at) windows.push(newestOf(tables, need, at));
        break;
      case 'backfill': {
        const row = tables.backfills.get(need.uid);
        if (row?.shard === need.shard) backfills.push(withLive(tables, row));
        break;
      }
      default:
        need satisfies never;
    }
  }
  const found = { keys: [...keys.values()], deadLetters: [...deadLetters.values()], windows, backfills };
  return { ...gathering.all(), ...found };
}

function newestOf(tables: ModelTables, { dagId, scheduleNo }: ScheduleKey, at: Instant): StoredWindow {
  const [newest] = [...tables.runs.values()]
    .filter((run) => run.dagId === dagId && (run.scheduleNo ?? 1) === scheduleNo && run.window?.at === at)
    .sort((a, b) => b.runId - a.runId);
  if (newest === undefined) return { dagId, scheduleNo, at, run: null };
  const { runId, uid, phase, outcome } = newest;
  return { dagId, scheduleNo, at, run: { runId, uid, isLive: phase !== 'ended', outcome } };
}

type ScheduleKey = Pick<StoredWindow, 'dagId' | 'scheduleNo'>;

function liveBackfills(tables: ModelTables, shards: readonly ShardNo[]): StoredBackfill[] {
  return [...tables.backfills.values()]
    .filter(({ shard, state }) => shards.includes(shard) && (state === 'running' || state === 'paused'))
    .map((row) => withLive(tables, row));
}

function withLive(tables: ModelTables, row: BackfillRow): StoredBackfill {
  const live = liveRuns(tables, [row.shard]).filter((run) => run.backfill === row.uid && !run.setAside);
  return { ...row, liveRuns: live.length };
}

/** Each thing once, with what it can't be used without: a run with its dag and version, a dag with its current version. */
export class Gathering {
  readonly #tables: ModelTables;
  readonly #runs = new Map<RunId, StoredRun>();
  readonly #dags = new Map<DagId, StoredDag>();
  readonly #versions = new Map<string, StoredVersion>();
  readonly #schedules = new Map<ScheduleId, StoredSchedule>();

  constructor(tables: ModelTables) {
    this.#tables = tables;
  }

  runOf(runId: RunId): void {
    const row = this.#tables.runs.get(runId);
    if (row !== undefined) this.run(row);
  }

  run({ claimed: _claimed, backfill: _backfill, ...run }: RunRow): void {
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
    for (const schedule of this.#tables.schedules.values()) {
      if (schedule.dagId === dagId) this.#schedules.set(scheduleIdOf(schedule), schedule);
    }
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

export function liveRuns(tables: ModelTables, shards: readonly ShardNo[]): RunRow[] {
  const rows = shards.flatMap((shard) => [...tables.liveOf(shard).values()].map((runId) => tables.runs.get(runId)));
  return rows.filter((row) => row !== undefined).sort(byId);
}

export function byId(a: RunRow, b: RunRow): number {
  return a.runId - b.runId;
}
