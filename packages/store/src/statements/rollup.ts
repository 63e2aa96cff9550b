/**
 * Rows of `run_rollup`: how many runs ended, by dag, hour, outcome and duration. They are written by the statements that end runs, so that
 * nobody has to scan runs for a rate or a percentile. Only the owner of a shard writes its rows, so two commits never meet here.
 *
 * It is a part of those statements, because a statement that looked the runs up again cost 2 to 8 µs of the backend for each run (in
 * batches of 500 runs with one task, of 64 dags).
 */
import { type RunId, shardOfRun } from '@signalbox/engine';
import { phases } from '../codes.ts';
import type { Leaf } from '../leaf.ts';
import { type Call, call, leafStatement, rowsOf } from '../statement.ts';
import { plainArray } from '../text.ts';

const HOUR_MS = 3_600_000;
/** Buckets per doubling: the upper edge of a bucket is 9 % above its lower one. */
export const BUCKETS_PER_OCTAVE = 8;
/** The bucket of runs that were opened again: the time in which nobody worked on them says nothing about the work. */
export const NO_DURATION = -1;

const ENDED = phases.code('ended');

/** What a statement on `run r` returns for `rolledUp`. */
export const ROLLED_COLUMNS = 'r.shard, r.dag_id, r.outcome, r.phase, r.created_at, r.ended_at, r.reopened_at';

const sumsOf = (from: string) => `
    select shard, dag_id, (ended_at / ${HOUR_MS})::integer as hour, outcome,
        (case when reopened_at is null
          then ceil(${BUCKETS_PER_OCTAVE} * ln(greatest(1, ended_at - created_at)::float8) / ln(2::float8))
          else ${NO_DURATION} end)::smallint as bucket,
        count(*) as runs
      from ${from} where phase = ${ENDED}
     group by 1, 2, 3, 4, 5`;

/** Adds what has ended among the rows of that name to the sums: a part of a statement, after `with`. Leans on the primary key. */
export const rolledUp = (from: string): string => `rolled as (
    insert into run_rollup as k (shard, dag_id, hour, outcome, bucket, runs) ${sumsOf(from)}
    on conflict (shard, dag_id, hour, outcome, bucket) do update set runs = k.runs + excluded.runs)`;

/** Never below zero: a run that a server of an older version ended was not counted. Leans on both primary keys. */
const removeEnds = leafStatement(
  'roll_back_runs',
  (leaf) => `
  with seen as (
    select ${ROLLED_COLUMNS} from (${rowsOf('shard smallint', 'run_id bigint')}) u
      join run_${leaf} r on r.shard = u.shard and r.run_id = u.run_id)
  update run_rollup k set runs = greatest(0, k.runs - e.runs) from (${sumsOf('seen')}) e
   where k.shard = e.shard and k.dag_id = e.dag_id and k.hour = e.hour and k.outcome = e.outcome and k.bucket = e.bucket`,
);

/** Comes before the runs are opened again: then their rows no longer say how they ended. */
export function rollBackRuns(leaf: Leaf, runs: readonly { readonly runId: RunId }[]): Call {
  const [shards, ids] = [runs.map(({ runId }) => shardOfRun(runId)), runs.map(({ runId }) => runId)];
  return call(removeEnds(leaf), plainArray(shards), plainArray(ids));
}
