/**
 * Ids of runs that callers chose. They do not carry the shard of their run, so it is stored, and an id belongs to one dag of its
 * tenant. Whether a run exists is decided by the engine alone: a row without a run only keeps the id for that dag, for a day.
 */
import type { DagId, RunId, ShardNo, TenantId } from '@signalbox/engine';
import type { Ask, Database } from '../database.ts';
import { call, statement } from '../statement.ts';

export interface OwnRunId {
  readonly tenantId: TenantId;
  readonly uid: string;
  readonly shard: ShardNo;
  readonly dagId: DagId;
}

/** By primary key. Returns nothing when the id belongs to another dag. */
const claimId = statement(
  'claim_own_run_id',
  `
  insert into own_run_id as o (tenant_id, uid, shard, dag_id)
  values ($1::integer, $2::uuid, $3::smallint, $4::bigint)
  on conflict (tenant_id, uid) do update set uses = o.uses + 1 where o.dag_id = excluded.dag_id
  returning 1`,
);

/** Only if no other request has used it: that one may have made the run. */
const releaseId = statement(
  'release_own_run_id',
  'delete from own_run_id where tenant_id = $1::integer and uid = $2::uuid and dag_id = $3::bigint and uses = 1',
);

/** Leans on the primary key, and on the index (shard, uid) of each partition of `run`. */
const selectRun = statement(
  'select_own_run',
  `
  select r.run_id from own_run_id o join run r on r.shard = o.shard and r.uid = o.uid and r.tenant_id = o.tenant_id
   where o.tenant_id = $1::integer and o.uid = $2::uuid limit 1`,
);

const selectShard = statement(
  'select_own_shard',
  'select shard from own_run_id where tenant_id = $1::integer and uid = $2::uuid',
);

const IDS_PER_STEP = 1_000;

/** What has a run or a schedule is looked at again when a run of today has reached its age. */
const dropUnused = statement(
  'drop_unused_own_run_ids',
  `
  with looked as materialized (
    select o.tenant_id, o.uid,
           exists (select from run r where r.shard = o.shard and r.uid = o.uid and r.tenant_id = o.tenant_id)
             or exists (select from dag_schedule s
                         where s.shard = o.shard and s.dag_id = o.dag_id and s.name = o.uid::text) as used
      from own_run_id o where o.check_at < clock_timestamp() order by o.check_at limit ${IDS_PER_STEP}),
  kept as (
    update own_run_id o set check_at = clock_timestamp() + $1::integer * interval '1 day'
      from looked l where l.used and o.tenant_id = l.tenant_id and o.uid = l.uid returning 1),
  gone as (
    delete from own_run_id o using looked l where not l.used and o.tenant_id = l.tenant_id and o.uid = l.uid returning 1)
  select count(*), (select count(*) from kept) + (select count(*) from gone) from looked`,
);

/** False when the id belongs to another dag. */
export async function claimRunId(database: Database, { tenantId, uid, shard, dagId }: OwnRunId): Promise<boolean> {
  return (await database.one(call(claimId, tenantId, uid, shard, dagId))).rows.length === 1;
}

/** Nothing came of the request: the id is free again, unless another request has used it meanwhile. */
export async function releaseRunId(database: Database, { tenantId, uid, dagId }: OwnRunId): Promise<void> {
  await database.one(call(releaseId, tenantId, uid, dagId));
}

export async function findOwnRun(ask: Ask, tenantId: TenantId, uid: string): Promise<RunId | null> {
  const [found] = await ask([call(selectRun, tenantId, uid)]);
  const id = found?.rows[0]?.[0];
  return id === undefined ? null : (Number(id) as RunId);
}

export async function shardOfOwnRunId(database: Database, tenantId: TenantId, uid: string): Promise<ShardNo | null> {
  const [row] = (await database.one(call(selectShard, tenantId, uid))).rows;
  return row === undefined ? null : (Number(row[0]) as ShardNo);
}

/** One step. True when there may be more. */
export async function dropUnusedRunIds(database: Database, runDays: number): Promise<boolean> {
  const { rows } = await database.one(call(dropUnused, runDays));
  return Number(rows[0]?.[0]) === IDS_PER_STEP;
}
