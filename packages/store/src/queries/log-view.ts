/** What a reader of logs needs to know about a run: its attempts and whether they have ended, without specs and payloads. */
import type { AttemptNo, Fence, Instant, RunId, TaskNo, TenantId } from '@signalbox/engine';
import { shardOfRun } from '@signalbox/engine';
import type { Row } from '../batch.ts';
import { phases, taskStates } from '../codes.ts';
import type { Database } from '../database.ts';
import { type KnownDays, leafOfRun, readable } from '../leaf.ts';
import { call, leafStatement, statement } from '../statement.ts';
import { expectResults } from '../whole-runs.ts';
import { NO_ATTEMPT } from './task-view.ts';

export interface LogAttemptView {
  readonly taskNo: TaskNo;
  readonly attemptNo: AttemptNo;
  readonly fence: Fence;
  readonly claimedAt: Instant;
  /** Null while it runs. */
  readonly endedAt: Instant | null;
}

export interface LogAttempts {
  readonly isEnded: boolean;
  readonly endedAt: Instant | null;
  /** By the time they were claimed. */
  readonly attempts: readonly LogAttemptView[];
}

export interface NodeAddress {
  readonly nodeId: string;
  readonly dataAddress: string;
}

const selectRun = leafStatement(
  'log_run',
  (leaf) => `
  select phase, ended_at from ${readable('run', leaf)}
   where shard = $1::smallint and run_id = $2::bigint and tenant_id = $3::integer`,
);

/**
 * By the primary keys, which begin with (shard, run_id, task_no). Of all tasks when none is named. A speculative attempt that runs beside
 * another is in the notes of its task.
 */
const selectAttempts = leafStatement(
  'log_attempts',
  (leaf) => `
  select task_no, attempt_no, fence, claimed_at, case when outcome is null then null else coalesce(ended_at, claimed_at) end
    from ${readable('task', leaf)} t
   where shard = $1::smallint and run_id = $2::bigint and ($3::integer is null or task_no = $3::integer) and not ${NO_ATTEMPT}
  union all
  select a.task_no, a.attempt_no, a.fence, a.claimed_at, coalesce(a.ended_at, a.claimed_at)
    from ${readable('attempt', leaf)} a
    join ${readable('task', leaf)} t on t.shard = a.shard and t.run_id = a.run_id and t.task_no = a.task_no
   where a.shard = $1::smallint and a.run_id = $2::bigint and ($3::integer is null or a.task_no = $3::integer)
     and (a.attempt_no <> t.attempt_no or ${NO_ATTEMPT})
  union all
  select t.task_no, (n.second ->> 'attemptNo')::integer, (n.second ->> 'fence')::bigint, (n.second ->> 'claimedAt')::bigint, null
    from ${readable('task', leaf)} t cross join lateral (select t.notes::json -> 'second' as second) n
   where t.shard = $1::smallint and t.run_id = $2::bigint and ($3::integer is null or t.task_no = $3::integer)
     and t.state = ${taskStates.code('running')} and n.second is not null and n.second ->> 'over' is null
   order by 4, 1, 2`,
);

const selectNodes = statement('log_nodes', `select node_id, data_address from node where data_address <> ''`);

/** Null when the tenant has no such run (any more). */
export async function getLogAttempts(
  database: Database,
  days: KnownDays,
  tenantId: TenantId,
  { runId, taskNo }: { runId: RunId; taskNo: TaskNo | null },
): Promise<LogAttempts | null> {
  return database.snapshot(async (ask) => {
    const leaf = leafOfRun(days, runId);
    const key = [shardOfRun(runId), runId];
    const [run, attempts] = expectResults(
      await ask([call(selectRun(leaf), ...key, tenantId), call(selectAttempts(leaf), ...key, taskNo)], { last: true }),
      2,
    );
    const row = run.rows[0];
    if (row === undefined) return null;
    const isEnded = phases.word(Number(row[0])) === 'ended';
    return { isEnded, endedAt: instant(row[1]), attempts: attempts.rows.map(parseAttempt) };
  });
}

/** The nodes that may have logs, those that are leaving included. */
export async function listDataNodes(database: Database): Promise<NodeAddress[]> {
  const { rows } = await database.one(call(selectNodes));
  return rows.map(([nodeId, dataAddress]) => ({ nodeId: nodeId ?? '', dataAddress: dataAddress ?? '' }));
}

function parseAttempt([taskNo, attemptNo, fence, claimedAt, endedAt]: Row): LogAttemptView {
  return {
    taskNo: Number(taskNo) as TaskNo,
    attemptNo: Number(attemptNo) as AttemptNo,
    fence: Number(fence) as Fence,
    claimedAt: Number(claimedAt) as Instant,
    endedAt: instant(endedAt),
  };
}

const instant = (value: string | null | undefined): Instant | null =>
  value === null || value === undefined ? null : (Number(value) as Instant);
