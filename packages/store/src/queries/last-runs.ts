/** The newest run of each of some dags. */
import type { DagId, TenantId } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { plainArray } from '../text.ts';
import type { DagKey } from './events.ts';
import { parseRunView, RUN_VIEW_COLUMNS, type RunView } from './run-view.ts';

/**
 * Leans on the index (shard, dag_id, run_id) of each partition. Partitions are ranges of run_id, so PostgreSQL walks them newest
 * first and stops at the first row: one descent for a dag that ran today, one per kept day for a dag that never ran.
 */
const selectLastRuns = statement(
  'last_runs',
  `
  select ${RUN_VIEW_COLUMNS}
    from unnest($1::smallint[], $2::bigint[]) as k (shard, dag_id)
    join dag d on d.shard = k.shard and d.dag_id = k.dag_id and d.tenant_id = $3::integer
    cross join lateral (
      select * from run r where r.shard = k.shard and r.dag_id = k.dag_id order by r.run_id desc limit 1) r`,
);

/** By dag; a dag that has no run is not in it. */
export async function lastRuns(
  database: Database,
  tenantId: TenantId,
  dags: readonly DagKey[],
): Promise<ReadonlyMap<DagId, RunView>> {
  if (dags.length === 0) return new Map();
  return database.snapshot(async (ask) => {
    const [shards, ids] = [plainArray(dags.map(({ shard }) => shard)), plainArray(dags.map(({ dagId }) => dagId))];
    const [found] = await ask([call(selectLastRuns, shards, ids, tenantId)], { last: true });
    return new Map((found?.rows ?? []).map((row) => parseRunView(row)).map((run) => [run.dagId, run]));
  });
}
