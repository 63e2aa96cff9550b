/** When the first task of each of some runs was claimed. */
import type { Instant, RunId } from '@signalbox/engine';
import { type Database, holdToOrder } from '../database.ts';
import { byLeaf, type KnownDays, leafOfRun, readable } from '../leaf.ts';
import { call, leafStatement } from '../statement.ts';
import { keyColumns } from '../statements/run.ts';

/** Tasks looked at in each run. Those that need nothing have low numbers, so the first one is among them but for odd graphs. */
const LOOKED_AT = 20;

/** Leans on the primary keys (shard, run_id, task_no …). First attempts alone: the row of a task shows its newest. */
const selectFirstClaims = leafStatement(
  'first_claims',
  (leaf) => `
  select u.run_id, min(c.claimed_at) from unnest($1::smallint[], $2::bigint[]) as u (shard, run_id) cross join lateral (
    (select claimed_at from ${readable('task', leaf)}
      where shard = u.shard and run_id = u.run_id and attempt_no = 1 order by task_no limit ${LOOKED_AT})
    union all
    (select claimed_at from ${readable('attempt', leaf)}
      where shard = u.shard and run_id = u.run_id and attempt_no = 1 order by task_no limit ${LOOKED_AT})) c
   group by u.run_id`,
);

/** Runs of which nothing was claimed yet are not in it. */
export async function firstClaims(
  database: Database,
  days: KnownDays,
  runIds: readonly RunId[],
): Promise<ReadonlyMap<RunId, Instant>> {
  if (runIds.length === 0) return new Map();
  const calls = [...byLeaf(runIds, (id) => leafOfRun(days, id))].map(([leaf, ids]) =>
    call(selectFirstClaims(leaf), ...keyColumns(ids.map((runId) => ({ runId })))),
  );
  const [, ...results] = await database.snapshot((ask) => ask([holdToOrder, ...calls], { last: true }));
  return new Map(
    results.flatMap(({ rows }) => rows.map(([id, at]) => [Number(id) as RunId, Number(at) as Instant] as const)),
  );
}
