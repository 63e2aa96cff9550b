/** The newest runs of each of some dags. */
import type { DagId, TenantId } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { plainArray } from '../text.ts';
import type { DagKey } from './events.ts';
import { parseRunView, RUN_VIEW_COLUMNS, type RunView } from './run-view.ts';

/**
 * Leans on the index (shard, dag_id, run_id) of each partition. Partitions are ranges of run_id, so PostgreSQL walks them newest
 * first and stops when it has enough rows: one descent for a dag that ran today, one per kept day for a dag that never ran.
 */
const selectLastRuns = statement(
  'last_runs',
  `
  select ${RUN_VIEW_COLUMNS}
    from unnest($1::smallint[], $2::bigint[]) as k (shard, dag_id)
    join dag d on d.shard = k.shard and d.dag_id = k.dag_id and d.tenant_id = $3::integer
    cross join lateral (
      select * from run r where r.shard = k.shard and r.dag_id = k.dag_id order by r.run_id desc limit $4::integer) r
   order by r.run_id desc`,
);

/** By dag, newest first; a dag that has no run is not in it. */
export async function lastRuns(
  database: Database,
  tenantId: TenantId,
  dags: readonly DagKey[],
  most: number,
): Promise<ReadonlyMap<DagId, readonly RunView[]>> {
  if (dags.length === 0) return new Map();
  return database.snapshot(async (ask) => {
    const [shards, ids] = [plainArray(dags.map(({ shard }) => shard)), plainArray(dags.map(({ dagId }) => dagId))];
    const [found] = await ask([call(selectLastRuns, shards, ids, tenantId, most)], { last: true });
    const byDag = new Map<DagId, RunView[]>();
    for (const run of (found?.rows ?? []).map(parseRunView)) {
      const known = byDag.get(run.dagId);
      if (known === undefined) byDag.set(run.dagId, [run]);
      else known.push(run);
    }
    return byDag;
  });
}
