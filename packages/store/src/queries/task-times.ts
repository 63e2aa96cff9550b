/** When the tasks of a run were claimed, started and ended. Returned as columns, because a run can have ten thousand tasks. */
import { type RunId, shardOfRun } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { type KnownDays, leafOfRun, readable } from '../leaf.ts';
import { call, leafStatement } from '../statement.ts';
import { parseIntegers } from '../text.ts';

/** Instants in milliseconds; 0 for what has not happened. The columns have one place for each task that has a row. */
export interface TaskTimes {
  readonly taskNos: readonly number[];
  readonly attempts: readonly number[];
  readonly claimedAt: readonly number[];
  readonly startedAt: readonly number[];
  readonly endedAt: readonly number[];
}

/** Leans on the primary key (shard, run_id, task_no). */
const selectTimes = leafStatement(
  'view_task_times',
  (leaf) => `
  select array_agg(task_no)::text, array_agg(attempt_no)::text, array_agg(coalesce(claimed_at, 0))::text,
      array_agg(coalesce(started_at, 0))::text, array_agg(coalesce(ended_at, 0))::text
    from ${readable('task', leaf)} where shard = $1::smallint and run_id = $2::bigint and task_no < $3::integer`,
);

/** Of the tasks with numbers below `below`: those of the definition come before the instances of maps. */
export async function getTaskTimes(
  database: Database,
  days: KnownDays,
  { runId, below }: { readonly runId: RunId; readonly below: number },
): Promise<TaskTimes> {
  const { rows } = await database.one(call(selectTimes(leafOfRun(days, runId)), shardOfRun(runId), runId, below));
  const column = (at: number) => parseIntegers(rows[0]?.[at]);
  return {
    taskNos: column(0),
    attempts: column(1),
    claimedAt: column(2),
    startedAt: column(3),
    endedAt: column(4),
  };
}
