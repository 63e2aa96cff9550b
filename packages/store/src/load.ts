/**
 * Loads shards for a new owner: first the heads, enough to dispatch, then the rest in pages. Each is read in one snapshot
 * that begins after the take was committed, so it contains every commit of older epochs (I16).
 */
import {
  type AdmittedCount,
  type DagId,
  type Epoch,
  LOADED_TABLES,
  type LoadedTables,
  type RunId,
  type ShardNo,
  type StoredRun,
  type StoredShard,
  shardOfRun,
  type WorkerId,
} from '@signalbox/engine';
import type { CallResult } from './batch.ts';
import { priorities } from './codes.ts';
import { type Database, holdToIndexes } from './database.ts';
import type { KnownDays } from './leaf.ts';
import type { LoadedHeads, LoadedRest, RestCursor } from './port.ts';
import { type Call, call, rowsOf, statement } from './statement.ts';
import type { DagKey } from './statements/read-dag.ts';
import { parseSchedules, selectResidentSchedules } from './statements/read-schedule.ts';
import { loadTables, parseTables } from './tables/read-tables.ts';
import { parseIntegers, plainArray } from './text.ts';
import { expectResults, readDagsOf, readWholeRuns } from './whole-runs.ts';

const LOAD_TIMEOUT_MS = 60_000;

const selectShards = statement(
  'select_shard_states',
  `
  select shard, epoch, commit_no, last_run_id, last_dag_no,
         case when break_ended_at is not null
              then greatest(0, floor(extract(epoch from clock_timestamp() - break_ended_at) * 1000))::bigint end
    from shard where shard = any ($1::smallint[]) order by shard`,
);

const selectSilent = statement(
  'select_silent_workers',
  `
  select shard, worker_id, greatest(0, floor(extract(epoch from clock_timestamp() - since) * 1000))::bigint, served_ms
    from silent_worker where shard = any ($1::smallint[])`,
);

/** One pass over `live_run`: it has to count them all anyway. */
const countLive = statement(
  'count_live_runs',
  `
  select dag_id, shard, priority, count(*) filter (where admitted), count(*) filter (where not claimed)
    from live_run where shard = any ($1::smallint[]) group by dag_id, shard, priority`,
);

const selectClaimed = statement(
  'select_claimed_runs',
  'select array_agg(run_id)::text from live_run where shard = any ($1::smallint[]) and claimed',
);

/**
 * Leans on the primary key (shard, run_id): one walk per shard and priority that has runs to show, and only until it has
 * shown as many as there are.
 */
const selectHeads = statement(
  'select_head_runs',
  `
  select array_agg(h.run_id)::text
    from (${rowsOf('shard smallint', 'priority smallint', 'wanted integer')}) s, lateral (
      select l.run_id from live_run l
       where l.shard = s.shard and l.priority = s.priority and not l.claimed
       order by l.run_id limit s.wanted) h`,
);

/**
 * The same walks in the order of pages, each from where the last page stopped: over all pages a shard is walked once per
 * priority. A walk is only begun when those before it did not fill the page.
 */
const selectRest = statement(
  'select_rest_runs',
  `
  select array_agg(r.priority)::text, array_agg(r.run_id)::text
    from (
      select s.position, s.priority, l.run_id
        from unnest($1::smallint[], $2::smallint[], $3::bigint[]) with ordinality as s (shard, priority, after, position), lateral (
          select l.run_id from live_run l
           where l.shard = s.shard and l.priority = s.priority and not l.claimed and l.run_id > s.after
           order by l.run_id limit $4::integer) l
       order by s.position, l.run_id limit $4::integer) r`,
);

export async function loadHeads(
  database: Database,
  days: KnownDays,
  shards: readonly ShardNo[],
  headsPerPriority: number,
): Promise<LoadedHeads> {
  const numbers = plainArray(shards);
  return database.snapshot(
    async (ask) => {
      const first = [
        call(selectShards, numbers),
        call(selectSilent, numbers),
        call(selectResidentSchedules, numbers),
        call(countLive, numbers),
        call(selectClaimed, numbers),
      ];
      const results = await ask([...first, ...loadTables(numbers)]);
      const [shardRows, silentRows, scheduleRows, counts, claimed] = expectResults(results.slice(0, 5), 5);
      const tables = parseTables(results.slice(5));
      const waiting = parseCounts(counts);
      const [, heads] = expectResults(await ask([holdToIndexes, headsCall(waiting, headsPerPriority)]), 2);
      const claimedIds = parseIntegers(claimed.rows[0]?.[0]) as RunId[];
      const headIds = parseIntegers(heads.rows[0]?.[0]) as RunId[];
      const schedules = parseSchedules(scheduleRows);
      const runs = await readWholeRuns(ask, days, { withTasks: claimedIds, withoutTasks: headIds });
      return {
        shards: parseShards(shardRows, silentRows),
        schedules,
        runs: runs.sort((a, b) => a.runId - b.runId),
        ...(await readDagsOf(ask, runs, [...schedules, ...dagsBroughtBy(tables)])),
        admitted: sumAdmitted(waiting),
        tables,
        partial: partialDags(waiting, runs, new Set(headIds)),
      };
    },
    { timeoutMs: LOAD_TIMEOUT_MS, held: false },
  );
}

/** Rows of some tables are of no use without their dag. */
function dagsBroughtBy(tables: LoadedTables): DagKey[] {
  return LOADED_TABLES.flatMap(([name, { bringsDag }]) => (bringsDag ? (tables[name] as readonly DagKey[]) : []));
}

export async function loadRest(
  database: Database,
  days: KnownDays,
  shards: readonly ShardNo[],
  after: RestCursor | null,
  limit: number,
): Promise<LoadedRest> {
  return database.snapshot(
    async (ask) => {
      const walks = walksAfter(shards, after);
      const [page] = expectResults(
        await ask([
          call(
            selectRest,
            plainArray(walks.map((walk) => walk.shard)),
            plainArray(walks.map((walk) => walk.priority)),
            plainArray(walks.map((walk) => walk.after)),
            limit,
          ),
        ]),
        1,
      );
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
    },
    { timeoutMs: LOAD_TIMEOUT_MS },
  );
}

/** What is left to walk after the cursor, in order of shard and priority. */
function walksAfter(shards: readonly ShardNo[], cursor: RestCursor | null) {
  const from = cursor === null ? -1 : cursor.shard * priorities.words.length + priorities.code(cursor.priority);
  return shards
    .toSorted((a, b) => a - b)
    .flatMap((shard) => priorities.words.map((_, priority) => ({ shard, priority })))
    .map(({ shard, priority }) => ({ shard, priority, place: shard * priorities.words.length + priority }))
    .filter(({ place }) => place >= from)
    .map(({ shard, priority, place }) => ({
      shard,
      priority,
      after: place === from ? (cursor?.afterRunId ?? -1) : -1,
    }));
}

interface LiveCount {
  readonly dagId: DagId;
  readonly shard: ShardNo;
  readonly priority: number;
  readonly admitted: number;
  readonly unclaimed: number;
}

function parseCounts({ rows }: CallResult): LiveCount[] {
  return rows.map(([dagId, shard, priority, admitted, unclaimed]) => ({
    dagId: Number(dagId) as DagId,
    shard: Number(shard) as ShardNo,
    priority: Number(priority),
    admitted: Number(admitted),
    unclaimed: Number(unclaimed),
  }));
}

function headsCall(counts: readonly LiveCount[], headsPerPriority: number): Call {
  const walks = new Map<number, { shard: ShardNo; priority: number; unclaimed: number }>();
  for (const { shard, priority, unclaimed } of counts) {
    const place = shard * priorities.words.length + priority;
    walks.set(place, { shard, priority, unclaimed: (walks.get(place)?.unclaimed ?? 0) + unclaimed });
  }
  const list = [...walks.values()].filter(({ unclaimed }) => unclaimed > 0);
  return call(
    selectHeads,
    plainArray(list.map((walk) => walk.shard)),
    plainArray(list.map((walk) => walk.priority)),
    plainArray(list.map((walk) => Math.min(walk.unclaimed, headsPerPriority))),
  );
}

function lost(id: RunId): never {
  throw new Error(`Run ${id} is live but has no row.`);
}

function parseShards(shards: CallResult, silent: CallResult): StoredShard[] {
  return shards.rows.map(([shard, epoch, commitNo, lastRunId, lastDagNo, missedAgoMs]) => ({
    shard: Number(shard) as ShardNo,
    epoch: Number(epoch) as Epoch,
    commitNo: Number(commitNo),
    lastRunId: Number(lastRunId) as RunId,
    lastDagNo: Number(lastDagNo),
    missedAgoMs: missedAgoMs === null || missedAgoMs === undefined ? null : Number(missedAgoMs),
    silentWorkers: silent.rows
      .filter(([of]) => of === shard)
      .map(([, workerId, silentMs, servedMs]) => ({
        workerId: workerId as WorkerId,
        silentMs: Number(silentMs),
        servedMs: Number(servedMs),
      })),
  }));
}

/** Those with more runs without a claim than were loaded. */
function partialDags(counts: readonly LiveCount[], runs: readonly StoredRun[], heads: ReadonlySet<RunId>): DagId[] {
  const left = new Map<DagId, number>();
  for (const { dagId, unclaimed } of counts) left.set(dagId, (left.get(dagId) ?? 0) + unclaimed);
  for (const { dagId, runId } of runs) if (heads.has(runId)) left.set(dagId, left.get(dagId)! - 1);
  return [...left].flatMap(([dagId, count]) => (count > 0 ? [dagId] : [])).sort((a, b) => a - b);
}

function sumAdmitted(counts: readonly LiveCount[]): AdmittedCount[] {
  const sums = new Map<DagId, number>();
  for (const { dagId, admitted } of counts) {
    if (admitted > 0) sums.set(dagId, (sums.get(dagId) ?? 0) + admitted);
  }
  return [...sums].map(([dagId, admitted]) => ({ dagId, admitted }));
}
