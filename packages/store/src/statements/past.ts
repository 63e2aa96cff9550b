/** What lies before a window, and runs that give up their place among the active ones. */
import type { DagId, Instant, Need, RunId, RunYielded, ScheduleNo, StoredPast } from '@signalbox/engine';
import type { CallResult } from '../batch.ts';
import type { Leaf } from '../leaf.ts';
import { type Call, call, leafStatement, rowsOf, statement } from '../statement.ts';
import { plainArray } from '../text.ts';
import { keyColumns } from './run.ts';

/** Rows of before a dag could have several. */
const FIRST_SCHEDULE = 1;

/** Leans on the index (shard, dag_id, fires_at, run_id) of each partition. */
const selectPasts = statement(
  'select_pasts',
  `
  select u.dag_id, u.schedule_no, u.before, w.fires_at, w.run_id
    from unnest($1::smallint[], $2::bigint[], $3::integer[], $4::bigint[]) as u (shard, dag_id, schedule_no, before)
    left join lateral (
      select r.fires_at, r.run_id from run r
       where r.shard = u.shard and r.dag_id = u.dag_id and r.fires_at < u.before
         and coalesce(r.schedule_no, ${FIRST_SCHEDULE}) = u.schedule_no
       order by r.fires_at desc, r.run_id desc limit 1) w on true`,
);

export function readPasts(needs: readonly Extract<Need, { kind: 'past' }>[]): Call {
  return call(
    selectPasts,
    plainArray(needs.map(({ shard }) => shard)),
    plainArray(needs.map(({ dagId }) => dagId)),
    plainArray(needs.map(({ scheduleNo }) => scheduleNo)),
    plainArray(needs.map(({ before }) => before)),
  );
}

export function parsePasts({ rows }: CallResult): StoredPast[] {
  return rows.map(([dagId, scheduleNo, before, at, runId]) => ({
    dagId: Number(dagId) as DagId,
    scheduleNo: Number(scheduleNo) as ScheduleNo,
    before: Number(before) as Instant,
    found: at == null || runId == null ? null : { at: Number(at) as Instant, runId: Number(runId) as RunId },
  }));
}

/** Leans on the primary key (shard, run_id) of the partition, and on that of `live_run`. */
const yieldPlaces = leafStatement(
  'yield_places',
  (leaf) => `
  with given as (${rowsOf('shard smallint', 'run_id bigint')}),
  hit as (
    update run_${leaf} r set admitted = false, admitted_at = null from given u
     where r.shard = u.shard and r.run_id = u.run_id
    returning 1),
  live as (
    update live_run l set admitted = false from given u where l.shard = u.shard and l.run_id = u.run_id
    returning 1)
  select expect_rows('yield_places', (select count(*) from hit) + (select count(*) from live), 2 * $3::integer)`,
);

export function yieldRuns(leaf: Leaf, runs: readonly RunYielded[]): Call {
  return call(yieldPlaces(leaf), ...keyColumns(runs), runs.length);
}
