/**
 * Rows of `live_run`, one per run that has not ended, by their primary key (shard, run_id). The priority is not part of the
 * key, although loads go by priority: changes do not carry it, and looking under all four priorities cost 4 µs more per row.
 * Instead, a load walks a shard once per priority.
 */

import type { RunFold } from '@signalbox/engine';
import { priorities } from '../codes.ts';
import { bigints, booleans, smallints } from '../columns.ts';
import { type Call, call, rowsOf, statement } from '../statement.ts';
import { keyColumns } from './run.ts';

const insertLiveRuns = statement(
  'insert_live_runs',
  `
  insert into live_run (shard, run_id, priority, dag_id, admitted, claimed)
  ${rowsOf('shard smallint', 'run_id bigint', 'priority smallint', 'dag_id bigint', 'admitted boolean', 'claimed boolean')}`,
);

export function addLiveRuns(runs: readonly (RunFold & { created: NonNullable<RunFold['created']> })[]): Call {
  return call(
    insertLiveRuns,
    ...keyColumns(runs),
    smallints(runs.map((run) => priorities.code(run.created.priority))),
    bigints(runs.map((run) => run.created.dagId)),
    booleans(runs.map((run) => run.created.admitted || run.admitted !== null)),
    booleans(runs.map((run) => run.claimed)),
  );
}

const markLiveRuns = statement(
  'mark_live_runs',
  `
  with hit as (
    update live_run l set admitted = l.admitted or u.admitted, claimed = l.claimed or u.claimed
      from (${rowsOf('shard smallint', 'run_id bigint', 'admitted boolean', 'claimed boolean')}) u
     where l.shard = u.shard and l.run_id = u.run_id
    returning 1)
  select expect_rows('mark_live_runs', count(*), $5::integer) from hit`,
);

export function changeLiveRuns(runs: readonly RunFold[]): Call {
  return call(
    markLiveRuns,
    ...keyColumns(runs),
    booleans(runs.map((run) => run.admitted !== null)),
    booleans(runs.map((run) => run.claimed)),
    runs.length,
  );
}

const deleteLiveRuns = statement(
  'delete_live_runs',
  `
  with hit as (
    delete from live_run l using (${rowsOf('shard smallint', 'run_id bigint')}) u
     where l.shard = u.shard and l.run_id = u.run_id
    returning 1)
  select expect_rows('delete_live_runs', count(*), $3::integer) from hit`,
);

export function removeLiveRuns(runs: readonly RunFold[]): Call {
  return call(deleteLiveRuns, ...keyColumns(runs), runs.length);
}
