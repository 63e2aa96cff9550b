/**
 * Jobs, for people: what each is called, and which run or schedule it is. A row is written before its run or schedule is asked for,
 * and says nothing about whether that exists: a row without either is no job, and goes after a day. Every statement names the tenant (I65).
 */
import type { DagId, Instant, RunId, ScheduleSpec, ShardNo, TenantId } from '@signalbox/engine';
import type { Row } from '../batch.ts';
import { phases, runOutcomes } from '../codes.ts';
import type { Database } from '../database.ts';
import type { KnownDays } from '../leaf.ts';
import { call, statement } from '../statement.ts';
import { decodeNullableText, decodeText, encodeText, plainArray, textArray } from '../text.ts';
import type { ChangedBy } from './audit.ts';
import { viewRuns } from './run-list.ts';
import type { RunView } from './run-view.ts';

export interface NewJobRow {
  readonly id: string;
  readonly shard: ShardNo;
  readonly dagId: DagId;
  readonly recurring: boolean;
  readonly what: string;
  readonly name: string | null;
  readonly tags: readonly string[];
  readonly owner: string | null;
}

export interface JobRow extends NewJobRow {
  readonly dagName: string;
  readonly createdAt: Instant;
  readonly createdBy: string;
  readonly isCancelled: boolean;
  /** Of a recurring job, also after its schedule is gone. */
  readonly scheduleNo: number | null;
  readonly schedule: {
    readonly spec: ScheduleSpec;
    readonly paused: boolean;
    readonly decidedUntil: Instant;
    readonly fired: number;
  } | null;
  readonly run: { readonly phase: string; readonly admitted: boolean; readonly outcome: string | null } | null;
}

const insertJobs = statement(
  'insert_jobs',
  `
  insert into job (tenant_id, job_id, shard, dag_id, recurring, what, name, tags, owner, created_by)
  select $1::integer, u.id, $2::smallint, $3::bigint, u.recurring, u.what, u.name, u.tags::text[], u.owner, $9::text
    from unnest($4::uuid[], $5::boolean[], $6::text[], $7::text[], $8::text[], $10::text[]) as u (id, recurring, what, name, tags, owner)
  on conflict do nothing returning job_id`,
);
const deleteJobs = statement(
  'delete_jobs',
  'delete from job where tenant_id = $1::integer and job_id = any ($2::uuid[])',
);
/** Nothing else tells who took it off the list (I71). */
const deleteOne = statement(
  'delete_job',
  `
  with gone as (delete from job where tenant_id = $1::integer and job_id = $2::uuid returning tenant_id, job_id, what)
  insert into audit_event (tenant_id, actor, action, target, origin, outcome, details)
  select tenant_id, $3::text, 'job.delete', job_id::text, $4::text, 'done', json_build_object('what', what) from gone`,
);
const cancelJobRow = statement(
  'cancel_job',
  'update job set cancelled_at = coalesce(cancelled_at, clock_timestamp()) where tenant_id = $1::integer and job_id = $2::uuid',
);

/** Before the schedule is deleted: nothing else tells which runs were the job's. */
const keepScheduleNo = statement(
  'keep_job_schedule_no',
  'update job set schedule_no = $3::integer where tenant_id = $1::integer and job_id = $2::uuid',
);

/** Leans on the primary key of `job`, the names of schedules and the index (shard, uid) of each partition of `run`. */
const COLUMNS = `j.job_id, j.shard, j.dag_id, j.recurring, j.what, j.name, array_to_json(j.tags)::text, j.owner, d.name,
    (extract(epoch from j.created_at) * 1000)::bigint, j.created_by, j.cancelled_at is not null,
    s.spec::text, s.paused, s.decided_until, s.fired, coalesce(s.schedule_no, j.schedule_no), r.phase, r.admitted, r.outcome`;
const TABLES = `job j join dag d on d.shard = j.shard and d.dag_id = j.dag_id
    left join dag_schedule s on s.shard = j.shard and s.dag_id = j.dag_id and s.name = j.job_id::text
    left join lateral (select r.phase, r.admitted, r.outcome from run r
                        where not j.recurring and r.shard = j.shard and r.uid = j.job_id and r.tenant_id = j.tenant_id limit 1) r on true`;
const selectJob = statement(
  'find_job',
  `select ${COLUMNS} from ${TABLES} where j.tenant_id = $1::integer and j.job_id = $2::uuid`,
);
const selectIds = statement(
  'find_job_ids',
  'select job_id from job where tenant_id = $1::integer and job_id = any ($2::uuid[])',
);
const selectJobs = statement(
  'list_jobs',
  `select ${COLUMNS} from (
     select * from job j where j.tenant_id = $1::integer and j.job_id < $2::uuid
        and ($3::text is null or j.tags @> array[$3::text]) and ($4::text is null or j.owner = $4::text)
        and ($5::boolean is null or j.recurring = $5::boolean)
      order by j.job_id desc limit $6::integer) j${TABLES.slice('job j'.length)} order by j.job_id desc`,
);

/** Leans on the index (shard, dag_id, run_id) of each partition. */
const selectRunIds = statement(
  'list_job_runs',
  `select run_id from run where shard = $1::smallint and dag_id = $2::bigint and schedule_no = $3::integer and run_id < $4::bigint
    order by run_id desc limit $5::integer`,
);

const JOBS_PER_STEP = 1_000;
/** One that recurred and was cancelled stays as long as its runs do: by its time, because to look for the last of them could read all runs of its shape. */
const dropUnused = statement(
  'drop_unused_jobs',
  `
  with looked as materialized (
    select j.tenant_id, j.job_id,
           exists (select from run r where r.shard = j.shard and r.uid = j.job_id and r.tenant_id = j.tenant_id)
             or exists (select from dag_schedule s where s.shard = j.shard and s.dag_id = j.dag_id and s.name = j.job_id::text)
             or (j.schedule_no is not null and j.cancelled_at > clock_timestamp() - $1::integer * interval '1 day') as used
      from job j where j.check_at < clock_timestamp() order by j.check_at limit ${JOBS_PER_STEP}),
  kept as (
    update job j set check_at = clock_timestamp() + $1::integer * interval '1 day'
      from looked l where l.used and j.tenant_id = l.tenant_id and j.job_id = l.job_id returning 1),
  gone as (delete from job j using looked l where not l.used and j.tenant_id = l.tenant_id and j.job_id = l.job_id returning 1)
  select count(*), (select count(*) from kept) + (select count(*) from gone) from looked`,
);

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** All of one dag. The ids of those that were not there before. */
export async function insertJobRows(
  database: Database,
  tenantId: TenantId,
  jobs: readonly NewJobRow[],
  createdBy: string,
): Promise<readonly string[]> {
  const [first] = jobs;
  if (first === undefined) return [];
  const { rows } = await database.one(
    call(
      insertJobs,
      tenantId,
      first.shard,
      first.dagId,
      textArray(jobs.map(({ id }) => id)),
      plainArray(jobs.map(({ recurring }) => recurring)),
      textArray(jobs.map(({ what }) => what)),
      textArray(jobs.map(({ name }) => name)),
      textArray(jobs.map(({ tags }) => textArray(tags))),
      encodeText(createdBy),
      textArray(jobs.map(({ owner }) => owner)),
    ),
  );
  return rows.map(([id]) => id!);
}

export async function deleteJobRows(database: Database, tenantId: TenantId, ids: readonly string[]): Promise<void> {
  await database.one(call(deleteJobs, tenantId, textArray(ids)));
}

/** Asked for by a person or a key. */
export async function deleteJob(
  database: Database,
  tenantId: TenantId,
  id: string,
  { actor, origin }: ChangedBy,
): Promise<void> {
  await database.write([call(deleteOne, tenantId, id, encodeText(actor), encodeText(origin))]);
}

export async function keepJobScheduleNo(
  database: Database,
  tenantId: TenantId,
  id: string,
  scheduleNo: number,
): Promise<void> {
  await database.one(call(keepScheduleNo, tenantId, id, scheduleNo));
}

export async function markJobCancelled(database: Database, tenantId: TenantId, id: string): Promise<void> {
  await database.one(call(cancelJobRow, tenantId, id));
}

export async function findJob(database: Database, tenantId: TenantId, id: string): Promise<JobRow | null> {
  const [row] = (await database.one(call(selectJob, tenantId, id))).rows;
  return row === undefined ? null : parse(row);
}

/** Those that have a row. */
export async function findJobIds(database: Database, tenantId: TenantId, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await database.one(call(selectIds, tenantId, textArray(ids)));
  return new Set(rows.map(([id]) => id ?? ''));
}

export interface ListJobs {
  readonly before: string | null;
  readonly tag: string | null;
  readonly owner: string | null;
  readonly recurring: boolean | null;
  readonly limit: number;
}

/** Newest first. */
export async function listJobs(database: Database, tenantId: TenantId, list: ListJobs): Promise<JobRow[]> {
  const { before, tag, owner, recurring, limit } = list;
  const filters = [tag === null ? null : encodeText(tag), owner === null ? null : encodeText(owner), recurring];
  const { rows } = await database.one(call(selectJobs, tenantId, before ?? LAST_ID, ...filters, limit));
  return rows.map(parse);
}

/** Runs of a job that recurs, newest first. */
export async function listJobRuns(
  database: Database,
  days: KnownDays,
  tenantId: TenantId,
  list: {
    readonly shard: ShardNo;
    readonly dagId: DagId;
    readonly scheduleNo: number;
    readonly before: RunId | null;
    readonly limit: number;
  },
): Promise<readonly RunView[]> {
  const { shard, dagId, scheduleNo, before, limit } = list;
  return database.snapshot(async (ask) => {
    const [found] = await ask([call(selectRunIds, shard, dagId, scheduleNo, before ?? Number.MAX_SAFE_INTEGER, limit)]);
    const ids = (found?.rows ?? []).map(([id]) => Number(id) as RunId);
    return ids.length === 0 ? [] : viewRuns(ask, days, tenantId, ids);
  });
}

/** One step. True when there may be more. */
export async function dropUnusedJobs(database: Database, runDays: number): Promise<boolean> {
  return Number((await database.one(call(dropUnused, runDays))).rows[0]?.[0]) === JOBS_PER_STEP;
}

function parse(row: Row): JobRow {
  const [id, shard, dagId, recurring, what, name, tags, owner, dagName, createdAt, createdBy, cancelled] = row;
  const [spec, paused, decidedUntil, fired, scheduleNo, phase, admitted, outcome] = row.slice(12);
  return {
    id: id ?? '',
    shard: Number(shard) as ShardNo,
    dagId: Number(dagId) as DagId,
    recurring: recurring === 't',
    what: decodeText(what ?? ''),
    name: decodeNullableText(name ?? null),
    tags: (JSON.parse(tags ?? '[]') as string[]).map(decodeText),
    owner: decodeNullableText(owner ?? null),
    dagName: decodeText(dagName ?? ''),
    createdAt: Number(createdAt) as Instant,
    createdBy: decodeText(createdBy ?? ''),
    isCancelled: cancelled === 't',
    scheduleNo: scheduleNo == null ? null : Number(scheduleNo),
    schedule:
      spec == null
        ? null
        : {
            spec: JSON.parse(spec) as ScheduleSpec,
            paused: paused === 't',
            decidedUntil: Number(decidedUntil) as Instant,
            fired: Number(fired),
          },
    run:
      phase == null
        ? null
        : {
            phase: phases.word(Number(phase)),
            admitted: admitted === 't',
            outcome: outcome == null ? null : runOutcomes.word(Number(outcome)),
          },
  };
}
