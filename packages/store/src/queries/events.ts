/**
 * The journal as a stream of commits of all shards, and the names that its events refer to. A *cut* is a commit number for
 * each shard, all read in one snapshot, so it contains each commit completely or not at all. Reading from a cut gives every
 * later commit, on any node (I59).
 */
import {
  type Change,
  type DagId,
  type Instant,
  type RunId,
  type RunUid,
  SHARD_COUNT,
  type ShardNo,
  shardOfRun,
  type TenantId,
  type VersionNo,
} from '@signalbox/engine';
import type { Database } from '../database.ts';
import { bytesOf, readRow, type Unreadable } from '../journal-read.ts';
import { byLeaf, type KnownDays, leafOfRun, readable } from '../leaf.ts';
import { call, leafStatement, statement } from '../statement.ts';
import { decodeText, parseIntegers, plainArray } from '../text.ts';

/** Commit numbers by shard. */
export type Cut = readonly number[];

export interface Commit {
  /** The lowest of its shards, under which it is found. */
  readonly lead: ShardNo;
  readonly at: Instant;
  readonly shards: readonly { readonly shard: ShardNo; readonly commitNo: number }[];
  /** Empty when the row can't be read. */
  readonly changes: readonly Change[];
  readonly unreadable: Unreadable | null;
}

export interface NamedRun {
  readonly runId: RunId;
  readonly uid: RunUid;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  readonly versionNo: VersionNo;
}

export interface DagKey {
  readonly shard: ShardNo;
  readonly dagId: DagId;
}

export interface NamedDag extends DagKey {
  readonly tenantId: TenantId;
  readonly name: string;
}

const selectNow = statement('select_cut', 'select shard, commit_no from shard order by shard');
/** Leans on the primary key (shard, commit_no, at) of each partition of both. */
const selectOldest = statement(
  'select_oldest_cut',
  `
  select s.shard, s.commit_no, least(
      (select j.commit_no from journal j where j.shard = s.shard order by j.commit_no limit 1),
      (select m.commit_no from journal_member m where m.shard = s.shard order by m.commit_no limit 1))
    from shard s order by s.shard`,
);
/**
 * Leans on the same key. A commit is found by its lead alone: a cut has all shards of a commit before it, or none. Bytes are
 * counted, for a commit may be large.
 */
const selectCommits = statement(
  'select_commits',
  `
  select shard, at, shards::text, commit_nos::text, format, changes from (
    select j.*, sum(length(j.changes)) over (order by j.nth, j.shard) as bytes
      from unnest($1::smallint[], $2::bigint[]) as c (shard, after_no), lateral (
        select j.*, row_number() over () as nth from (
          select * from journal j where j.shard = c.shard and j.commit_no > c.after_no
           order by j.commit_no limit $3::integer) j) j) found
   where nth = 1 or bytes <= $4::bigint
   order by nth, shard`,
);
const selectRuns = leafStatement(
  'name_runs',
  (leaf) => `
  select r.run_id, r.uid, r.tenant_id, r.dag_id, r.version_no
    from unnest($1::smallint[], $2::bigint[]) as k (shard, run_id)
    join ${readable('run', leaf)} r on r.shard = k.shard and r.run_id = k.run_id`,
);
const selectDags = statement(
  'name_dags',
  `
  select d.shard, d.dag_id, d.tenant_id, d.name
    from unnest($1::smallint[], $2::bigint[]) as k (shard, dag_id) join dag d on d.shard = k.shard and d.dag_id = k.dag_id`,
);
const selectTaskNames = statement(
  'name_tasks',
  `
  select spec::text from dag_version
   where shard = $1::smallint and dag_id = $2::bigint and version_no = $3::integer`,
);

const COMMITS_PER_SHARD = 64;
const BYTES_AT_ONCE = 1024 * 1024;

export async function readCut(database: Database): Promise<Cut> {
  const { rows } = await database.one(call(selectNow));
  const cut = emptyCut();
  for (const [shard, commitNo] of rows) cut[Number(shard)] = Number(commitNo);
  return cut;
}

/** Before the oldest commit that the journal still has. */
export async function readOldestCut(database: Database): Promise<Cut> {
  const [found] = await database.snapshot((ask) => ask([call(selectOldest)], { last: true }));
  const cut = emptyCut();
  for (const [shard, now, oldest] of found?.rows ?? []) {
    cut[Number(shard)] = oldest === null || oldest === undefined ? Number(now) : Number(oldest) - 1;
  }
  return cut;
}

/** Some of the commits after a cut, of the shards given: at least the next one of each that leads it. */
export async function readCommits(database: Database, after: Cut, shards: readonly ShardNo[]): Promise<Commit[]> {
  const cuts = shards.map((shard) => after[shard] ?? 0);
  const read = call(selectCommits, plainArray(shards), plainArray(cuts), COMMITS_PER_SHARD, BYTES_AT_ONCE);
  const [found] = await database.snapshot((ask) => ask([read], { last: true }));
  return (found?.rows ?? []).map(([lead, at, all, commitNos, format, changes]) => {
    const [allShards, numbers] = [parseIntegers(all), parseIntegers(commitNos)];
    return {
      lead: Number(lead) as ShardNo,
      at: Number(at) as Instant,
      shards: allShards.map((shard, i) => ({ shard: shard as ShardNo, commitNo: numbers[i] ?? 0 })),
      ...readRow(Number(format), bytesOf(changes), allShards),
    };
  });
}

/** Those that are still there, by primary key. */
export async function nameRuns(database: Database, days: KnownDays, runIds: readonly RunId[]): Promise<NamedRun[]> {
  const calls = [...byLeaf(runIds, (id) => leafOfRun(days, id))].map(([leaf, ids]) =>
    call(selectRuns(leaf), plainArray(ids.map(shardOfRun)), plainArray(ids)),
  );
  if (calls.length === 0) return [];
  const found = await database.snapshot((ask) => ask(calls, { last: true }));
  return found.flatMap(({ rows }) =>
    rows.map(([runId, uid, tenantId, dagId, versionNo]) => ({
      runId: Number(runId) as RunId,
      uid: uid as RunUid,
      tenantId: Number(tenantId) as TenantId,
      dagId: Number(dagId) as DagId,
      versionNo: Number(versionNo) as VersionNo,
    })),
  );
}

export async function nameDags(database: Database, dags: readonly DagKey[]): Promise<NamedDag[]> {
  const keys = [plainArray(dags.map(({ shard }) => shard)), plainArray(dags.map(({ dagId }) => dagId))];
  const [found] = await database.snapshot((ask) => ask([call(selectDags, ...keys)], { last: true }));
  return (found?.rows ?? []).map(([shard, dagId, tenantId, name]) => ({
    shard: Number(shard) as ShardNo,
    dagId: Number(dagId) as DagId,
    tenantId: Number(tenantId) as TenantId,
    name: decodeText(name ?? ''),
  }));
}

/** In order of their numbers. */
export async function nameTasks(database: Database, { shard, dagId }: DagKey, versionNo: VersionNo): Promise<string[]> {
  const { rows } = await database.one(call(selectTaskNames, shard, dagId, versionNo));
  const spec = JSON.parse(rows[0]?.[0] ?? 'null') as { tasks: readonly { name: string }[] } | null;
  return spec?.tasks.map(({ name }) => name) ?? [];
}

function emptyCut(): number[] {
  return Array.from({ length: SHARD_COUNT }, () => 0);
}
