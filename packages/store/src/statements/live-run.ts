/**
 * Rows of `live_run`, one per run that has not ended. Its key (shard, priority, run_id) is the order of loading. Changes do
 * not carry the priority of their run, so each row is looked for under all four: four short descents of one index are
 * cheaper than a second index to keep.
 */
import { priorities } from '../codes.ts';
import type { RunFold } from '../rows.ts';
import { type Call, call, statement } from '../statement.ts';
import { plainArray } from '../text.ts';
import { keyColumns } from './run.ts';

const EVERY_PRIORITY = `'{${priorities.words.map((_, code) => code).join(',')}}'::smallint[]`;

const insertLiveRuns = statement(
  'insert_live_runs',
  `
  insert into live_run (shard, run_id, priority, dag_id, admitted, claimed)
  select * from unnest($1::smallint[], $2::bigint[], $3::smallint[], $4::bigint[], $5::boolean[], $6::boolean[])`,
);

export function addLiveRuns(runs: readonly (RunFold & { created: NonNullable<RunFold['created']> })[]): Call {
  return call(
    insertLiveRuns,
    ...keyColumns(runs),
    plainArray(runs.map((run) => priorities.code(run.created.priority))),
    plainArray(runs.map((run) => run.created.dagId)),
    plainArray(runs.map((run) => run.created.admitted || run.admitted !== null)),
    plainArray(runs.map((run) => run.claimed)),
  );
}

const markLiveRuns = statement(
  'mark_live_runs',
  `
  with hit as (
    update live_run l set admitted = l.admitted or u.admitted, claimed = l.claimed or u.claimed
      from unnest($1::smallint[], $2::bigint[], $3::boolean[], $4::boolean[]) as u (shard, run_id, admitted, claimed)
     where l.shard = u.shard and l.priority = any (${EVERY_PRIORITY}) and l.run_id = u.run_id
    returning 1)
  select expect_rows('mark_live_runs', count(*), $5::integer) from hit`,
);

export function changeLiveRuns(runs: readonly RunFold[]): Call {
  return call(
    markLiveRuns,
    ...keyColumns(runs),
    plainArray(runs.map((run) => run.admitted !== null)),
    plainArray(runs.map((run) => run.claimed)),
    runs.length,
  );
}

const deleteLiveRuns = statement(
  'delete_live_runs',
  `
  with hit as (
    delete from live_run l using unnest($1::smallint[], $2::bigint[]) as u (shard, run_id)
     where l.shard = u.shard and l.priority = any (${EVERY_PRIORITY}) and l.run_id = u.run_id
    returning 1)
  select expect_rows('delete_live_runs', count(*), $3::integer) from hit`,
);

export function removeLiveRuns(runs: readonly RunFold[]): Call {
  return call(deleteLiveRuns, ...keyColumns(runs), runs.length);
}
