/** What loads and fetches read from the rows. */
import type { Heads } from '../../apply/restore.ts';
import { RESIDENT } from '../../model/change/schedule.ts';
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
  DueWalked,
  Need,
  PastKey,
  RequirementKey,
  Seen,
  StoredDag,
  StoredDeadLetter,
  StoredPast,
  StoredRequirement,
  StoredRun,
  StoredSchedule,
  StoredVersion,
  StoredWindow,
} from '../../model/stored.ts';
import type { RowNeed } from '../../model/table/stored-tables.ts';
import { byId, liveRuns } from './live-runs.ts';
import { fetchDescribed, loadDescribed } from './read-described.ts';
import { numberNamed, schedulesOfDag, walkDue, walkZoned } from './read-schedules.ts';
import { dagNameKey, type ModelTables, type RunRow, versionKey } from './tables.ts';

/** What a takeover loads first: runs with a claim, and the first so many of the others per shard and priority. */
export function readLive(
  tables: ModelTables,
  shards: readonly ShardNo[],
  headsPerPriority: number,
): Omit<Heads, 'shards'> {
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
  for (const schedule of tables.schedules.values()) {
    if (shards.includes(schedule.shard) && schedule.dueAt === RESIDENT) gathering.schedule(schedule, true);
  }
  const described = loadDescribed(tables, shards);
  for (const { shard, dagId } of described.needingDag) gathering.dag(dagId, shard);
  return {
    ...gathering.all(),
    tables: described.tables,
    admitted: [...admitted].map(([dagId, count]) => ({ dagId, admitted: count })),
    partial: [...new Set(waiting.filter((run) => !heads.includes(run)).map(({ dagId }) => dagId))].sort(
      (a, b) => a - b,
    ),
  };
}

export function readNeeds(tables: ModelTables, needs: readonly Need[]): Seen {
  const gathering = new Gathering(tables);
  const deadLetters = new Map<string, StoredDeadLetter>();
  const windows: StoredWindow[] = [];
  const rows: RowNeed[] = [];
  const due: DueWalked[] = [];
  let zoned: Seen['zoned'] = null;
  const pasts: StoredPast[] = [];
  const requirements: StoredRequirement[] = [];
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
        if (dagId === undefined) break;
        gathering.dag(dagId, need.shard);
        const named = { shard: need.shard, dagId, names: need.schedules, ofDefinition: true } as const;
        const all = need.first === undefined ? {} : { first: need.first };
        for (const schedule of schedulesOfDag(tables, { ...named, ...all })) gathering.schedule(schedule);
        break;
      }
      case 'schedules':
        for (const schedule of schedulesOfDag(tables, need)) gathering.schedule(schedule);
        break;
      case 'due': {
        const walked = walkDue(tables, need);
        for (const schedule of walked.schedules) gathering.schedule(schedule);
        due.push(...walked.due);
        break;
      }
      case 'zoned':
        zoned = walkZoned(tables, need);
        break;
      case 'version':
        if (tables.dags.get(need.dagId)?.shard === need.shard) gathering.version(need.dagId, need.versionNo);
        break;
      case 'row':
        rows.push(need);
        break;
      case 'deadLetter': {
        const deadLetter = tables.deadLetters.get(deadLetterName(need));
        if (deadLetter !== undefined) deadLetters.set(deadLetterName(deadLetter), deadLetter);
        break;
      }
      case 'windows':
        {
          const { dagId, schedule } = need;
          const scheduleNo = typeof schedule === 'string' ? numberNamed(tables, dagId, schedule)?.scheduleNo : schedule;
          if (scheduleNo === undefined) break;
          for (const at of need.at) windows.push(newestOf(tables, { dagId, scheduleNo }, at));
        }
        break;
      case 'past': {
        const before = newestBefore(tables, need);
        if (before !== undefined) gathering.run(before);
        pasts.push(pastOf(need, before));
        break;
      }
      case 'requirement': {
        const { tenantId, dag, since, window } = need;
        requirements.push({ tenantId, dag, since, window, isMet: isMet(tables, need) });
        break;
      }
      default:
        need satisfies never;
    }
  }
  const found = {
    deadLetters: [...deadLetters.values()],
    windows,
    tables: fetchDescribed(tables, rows),
    pasts,
    requirements,
  };
  return { ...gathering.all(), ...found, due, zoned };
}

function newestOf(tables: ModelTables, { dagId, scheduleNo }: ScheduleKey, at: Instant): StoredWindow {
  const [newest] = [...tables.runs.values()]
    .filter((run) => run.dagId === dagId && (run.scheduleNo ?? 1) === scheduleNo && run.window?.at === at)
    .sort((a, b) => b.runId - a.runId);
  if (newest === undefined) return { dagId, scheduleNo, at, run: null };
  const { runId, uid, phase, outcome } = newest;
  return { dagId, scheduleNo, at, run: { runId, uid, isLive: phase !== 'ended', outcome } };
}

/** The newest run of the newest window before this one. */
function newestBefore(tables: ModelTables, { dagId, scheduleNo, before }: PastKey): RunRow | undefined {
  return [...tables.runs.values()]
    .filter((run) => run.dagId === dagId && (run.scheduleNo ?? 1) === scheduleNo)
    .filter((run) => run.window !== undefined && run.window.at < before)
    .sort((a, b) => (b.window?.at ?? 0) - (a.window?.at ?? 0) || b.runId - a.runId)[0];
}

/** A run of the dag has succeeded in time. */
function isMet(tables: ModelTables, { tenantId, dag, since, window }: RequirementKey): boolean {
  const dagId = tables.dagNames.get(dagNameKey(tenantId, dag));
  return [...tables.runs.values()].some((run) => {
    if (run.dagId !== dagId || run.phase !== 'ended' || run.outcome !== 'succeeded') return false;
    return window === null ? (run.endedAt ?? 0) >= (since ?? 0) : run.window?.at === window;
  });
}

function pastOf({ dagId, scheduleNo, before }: PastKey, run: RunRow | undefined): StoredPast {
  const at = run?.window?.at;
  const found = run === undefined || at === undefined ? null : { at, runId: run.runId };
  return { dagId, scheduleNo, before, found };
}

type ScheduleKey = Pick<StoredWindow, 'dagId' | 'scheduleNo'>;

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

  run({ claimed: _claimed, backfill: _backfill, endedAt: _endedAt, ...run }: RunRow): void {
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
  }

  version(dagId: DagId, versionNo: VersionNo): void {
    const version = this.#tables.versions.get(versionKey(dagId, versionNo));
    if (version !== undefined) this.#versions.set(versionKey(dagId, versionNo), version);
  }

  schedule(schedule: StoredSchedule, withDag = false): void {
    this.#schedules.set(scheduleIdOf(schedule), schedule);
    if (withDag) this.dag(schedule.dagId, schedule.shard);
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
