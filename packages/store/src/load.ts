/**
 * What a new owner needs: first the heads, enough to dispatch, then the rest in pages. Each is read in one snapshot, begun
 * after the take was committed, so no commit of an older epoch can be missing from it (I16).
 */
import {
  type AdmittedCount,
  type DagId,
  type Epoch,
  type RunId,
  type ShardNo,
  type StoredDag,
  type StoredRun,
  type StoredShard,
  type StoredVersion,
  shardOfRun,
  type WorkerId,
} from '@signalbox/engine';
import type { CallResult } from './batch.ts';
import { priorities } from './codes.ts';
import type { Ask, Database } from './database.ts';
import { byLeaf, type KnownDays, leafOfRun } from './leaf.ts';
import type { LoadedHeads, LoadedRest, RestCursor } from './port.ts';
import { type Call, call, statement } from './statement.ts';
import {
  type DagKey,
  parseDags,
  parseSchedules,
  parseVersions,
  readDags,
  readVersions,
  selectSchedulesOfShards,
  type VersionKey,
} from './statements/read-dag.ts';
import { parseRuns, parseTasks, readRuns, readTasks, sortTasks, type TasksByRun } from './statements/read-run.ts';
import { parseIntegers, plainArray } from './text.ts';

const LOAD_TIMEOUT_MS = 60_000;

const selectShards = statement(
  'select_shard_states',
  `select shard, epoch, commit_no, last_run_id, last_dag_no from shard where shard = any ($1::smallint[]) order by shard`,
);

const selectSilent = statement(
  'select_silent_workers',
  `
  select shard, worker_id, greatest(0, floor(extract(epoch from clock_timestamp() - since) * 1000))::bigint
    from silent_worker where shard = any ($1::smallint[])`,
);

/** One pass over `live_run`: it has to count them all anyway. */
const countLive = statement(
  'count_live_runs',
  `
  select dag_id, count(*) filter (where admitted), count(*) filter (where not claimed)
    from live_run where shard = any ($1::smallint[]) group by dag_id`,
);

const selectClaimed = statement(
  'select_claimed_runs',
  'select array_agg(run_id)::text from live_run where shard = any ($1::smallint[]) and claimed',
);

/** Leans on the primary key (shard, priority, run_id): each priority of each shard is one short walk. */
const selectHeads = statement(
  'select_head_runs',
  `
  select array_agg(h.run_id)::text
    from unnest($1::smallint[]) as s (shard), unnest($2::smallint[]) as p (priority), lateral (
      select l.run_id from live_run l
       where l.shard = s.shard and l.priority = p.priority and not l.claimed
       order by l.run_id limit $3::integer) h`,
);

/** The same index, shard after shard in order; a shard is only begun when those before it did not fill the page. */
const selectRest = statement(
  'select_rest_runs',
  `
  select array_agg(r.priority)::text, array_agg(r.run_id)::text
    from (
      select s.position, l.priority, l.run_id
        from unnest($1::smallint[]) with ordinality as s (shard, position), lateral (
          select l.priority, l.run_id from live_run l
           where l.shard = s.shard and not l.claimed
             and (l.priority, l.run_id) > (case when s.shard = $2::smallint then $3::smallint else -1::smallint end,
                                           case when s.shard = $2::smallint then $4::bigint else -1 end)
           order by l.priority, l.run_id limit $5::integer) l
       order by s.position, l.priority, l.run_id limit $5::integer) r`,
);

/** Arrays of unknown length joined to large tables: without this the planner may read the whole partition. */
const holdToIndexes = statement(
  'hold_to_indexes',
  `
  select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true)`,
);

export async function loadHeads(
  database: Database,
  days: KnownDays,
  shards: readonly ShardNo[],
  headsPerPriority: number,
): Promise<LoadedHeads> {
  const numbers = plainArray(shards);
  const everyPriority = plainArray(priorities.words.map((_, code) => code));
  return database.snapshot(async (ask) => {
    const [shardRows, silentRows, scheduleRows, counts, claimed, heads] = expectResults(
      await ask([
        call(selectShards, numbers),
        call(selectSilent, numbers),
        call(selectSchedulesOfShards, numbers),
        call(countLive, numbers),
        call(selectClaimed, numbers),
        call(selectHeads, numbers, everyPriority, headsPerPriority),
      ]),
      6,
    );
    const claimedIds = parseIntegers(claimed.rows[0]?.[0]) as RunId[];
    const headIds = parseIntegers(heads.rows[0]?.[0]) as RunId[];
    const schedules = parseSchedules(scheduleRows);
    const runs = await readWholeRuns(ask, days, { withTasks: claimedIds, withoutTasks: headIds });
    const unclaimed = counts.rows.reduce((sum, [, , count]) => sum + Number(count), 0);
    return {
      shards: parseShards(shardRows, silentRows),
      schedules,
      runs: runs.sort((a, b) => a.runId - b.runId),
      ...(await readDagsOf(ask, runs, schedules)),
      admitted: parseAdmitted(counts),
      complete: unclaimed === headIds.length,
    };
  }, LOAD_TIMEOUT_MS);
}

export async function loadRest(
  database: Database,
  days: KnownDays,
  shards: readonly ShardNo[],
  after: RestCursor | null,
  limit: number,
): Promise<LoadedRest> {
  const pending = shards.filter((shard) => after === null || shard >= after.shard).sort((a, b) => a - b);
  return database.snapshot(async (ask) => {
    const cursor =
      after === null ? [-1, -1, -1] : [after.shard, priorities.code(after.priority), after.afterRunId as number];
    const [page] = expectResults(await ask([call(selectRest, plainArray(pending), ...cursor, limit)]), 1);
    const pagePriorities = parseIntegers(page.rows[0]?.[0]);
    const ids = parseIntegers(page.rows[0]?.[1]) as RunId[];
    const found = new Map<RunId, StoredRun>();
    for (const run of await readWholeRuns(ask, days, { withTasks: [], withoutTasks: ids })) found.set(run.runId, run);
    const runs = ids.map((id) => found.get(id) ?? lost(id));
    const lastId = ids.at(-1);
    const lastPriority = pagePriorities.at(-1);
    const next: RestCursor | null =
      ids.length < limit || lastId === undefined || lastPriority === undefined
        ? null
        : { shard: shardOfRun(lastId), priority: priorities.word(lastPriority), afterRunId: lastId };
    return { runs, ...(await readDagsOf(ask, runs, [])), next };
  }, LOAD_TIMEOUT_MS);
}

function lost(id: RunId): never {
  throw new Error(`Run ${id} is live but has no row.`);
}

/** A run without a claim has no task rows: they are not asked for. */
export async function readWholeRuns(
  ask: Ask,
  days: KnownDays,
  { withTasks, withoutTasks }: { withTasks: readonly RunId[]; withoutTasks: readonly RunId[] },
): Promise<StoredRun[]> {
  if (withTasks.length + withoutTasks.length === 0) return [];
  const leafOf = (id: RunId) => leafOfRun(days, id);
  const runCalls: Call[] = [...byLeaf([...withTasks, ...withoutTasks], leafOf)].map(([leaf, ids]) =>
    readRuns(leaf, ids),
  );
  const taskCalls: Call[] = [...byLeaf(withTasks, leafOf)].map(([leaf, ids]) => readTasks(leaf, ids));
  const results = (await ask([call(holdToIndexes), ...taskCalls, ...runCalls])).slice(1);
  const tasks: TasksByRun = new Map();
  for (const result of results.slice(0, taskCalls.length)) parseTasks(result, tasks);
  sortTasks(tasks);
  return results.slice(taskCalls.length).flatMap((result) => parseRuns(result, tasks));
}

/** The dags of these runs and schedules, in the versions that the runs have and in the current one. */
export async function readDagsOf(
  ask: Ask,
  runs: readonly StoredRun[],
  more: readonly DagKey[],
  options?: { last: boolean },
): Promise<{ dags: StoredDag[]; versions: StoredVersion[] }> {
  const dags = new Map<DagId, DagKey>();
  const versions = new Map<string, VersionKey>();
  for (const { shard, dagId } of more) dags.set(dagId, { shard, dagId });
  for (const { runId, dagId, versionNo } of runs) {
    const shard = shardOfRun(runId);
    if (!dags.has(dagId)) dags.set(dagId, { shard, dagId });
    versions.set(`${dagId}/${versionNo}`, { shard, dagId, versionNo });
  }
  if (dags.size === 0 && options === undefined) return { dags: [], versions: [] };
  const keys = [...dags.values()];
  const [dagRows, versionRows] = expectResults(
    await ask([readDags(keys), readVersions([...versions.values()], keys)], options),
    2,
  );
  return { dags: parseDags(dagRows), versions: parseVersions(versionRows) };
}

type Results<N extends number, Found extends CallResult[] = []> = Found['length'] extends N
  ? Found
  : Results<N, [...Found, CallResult]>;

export function expectResults<N extends number>(results: readonly CallResult[], count: N): Results<N> {
  if (results.length !== count) throw new Error(`${results.length} results instead of ${count}.`);
  return results as Results<N>;
}

function parseShards(shards: CallResult, silent: CallResult): StoredShard[] {
  return shards.rows.map(([shard, epoch, commitNo, lastRunId, lastDagNo]) => ({
    shard: Number(shard) as ShardNo,
    epoch: Number(epoch) as Epoch,
    commitNo: Number(commitNo),
    lastRunId: Number(lastRunId) as RunId,
    lastDagNo: Number(lastDagNo),
    silentWorkers: silent.rows
      .filter(([of]) => of === shard)
      .map(([, workerId, silentMs]) => ({ workerId: workerId as WorkerId, silentMs: Number(silentMs) })),
  }));
}

function parseAdmitted(counts: CallResult): AdmittedCount[] {
  return counts.rows
    .map(([dagId, admitted]) => ({ dagId: Number(dagId) as DagId, admitted: Number(admitted) }))
    .filter(({ admitted }) => admitted > 0);
}
