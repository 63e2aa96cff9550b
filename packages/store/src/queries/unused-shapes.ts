/**
 * Dags that the server made for jobs, and that no job, run or schedule uses any more. They are retired first, by the owner of their
 * shard like any other change of a dag, and their rows go a day later: whoever has found one meanwhile is refused, and makes it again.
 */
import type { DagId, ShardNo, TenantId } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { HIDDEN_DAG_PREFIX } from './dag-filter.ts';

export interface UnusedShape {
  readonly shard: ShardNo;
  readonly dagId: DagId;
  readonly tenantId: TenantId;
}

const SHAPES_PER_STEP = 100;
const RETIRED_FOR_MS = 86_400_000;

/** Leans on the indexes by (shard, dag_id) of each table. */
const UNUSED = `d.name like '${HIDDEN_DAG_PREFIX}%'
     and not exists (select from job j where j.shard = d.shard and j.dag_id = d.dag_id)
     and not exists (select from dag_schedule s where s.shard = d.shard and s.dag_id = d.dag_id)
     and not exists (select from breaker b where b.shard = d.shard and b.dag_id = d.dag_id)
     and not exists (select from live_run l where l.shard = d.shard and l.dag_id = d.dag_id)
     and not exists (select from run r where r.shard = d.shard and r.dag_id = d.dag_id)`;

const selectUnused = statement(
  'select_unused_shapes',
  `
  select d.shard, d.dag_id, d.tenant_id from dag d
    join dag_version v on v.shard = d.shard and v.dag_id = d.dag_id and v.version_no = d.version_no
   where d.retired_at is null and v.at < $1::bigint and ${UNUSED} limit ${SHAPES_PER_STEP}`,
);

const deleteRetired = statement(
  'delete_retired_shapes',
  `
  with gone as (
    delete from dag x using (
      select d.shard, d.dag_id from dag d where d.retired_at < $1::bigint and ${UNUSED} limit ${SHAPES_PER_STEP} for update skip locked) u
     where x.shard = u.shard and x.dag_id = u.dag_id returning x.shard, x.dag_id),
  versions as (delete from dag_version v using gone g where v.shard = g.shard and v.dag_id = g.dag_id returning 1)
  select count(*) from gone`,
);

/** Those that were made before this instant, some of them. */
export async function findUnusedShapes(database: Database, madeBefore: number): Promise<UnusedShape[]> {
  const { rows } = await database.one(call(selectUnused, madeBefore));
  return rows.map(([shard, dagId, tenantId]) => ({
    shard: Number(shard) as ShardNo,
    dagId: Number(dagId) as DagId,
    tenantId: Number(tenantId) as TenantId,
  }));
}

/** One step. True when there may be more. */
export async function dropRetiredShapes(database: Database, nowMs: number): Promise<boolean> {
  const { rows } = await database.one(call(deleteRetired, nowMs - RETIRED_FOR_MS));
  return Number(rows[0]?.[0]) === SHAPES_PER_STEP;
}
