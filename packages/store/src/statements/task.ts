/** Rows of `task`. Updates lean on the primary key (shard, run_id, task_no) of the partition. */
import type { AttemptEnded } from '@signalbox/engine';
import { attemptOutcomes, returnReasons, taskStates } from '../codes.ts';
import type { Leaf } from '../leaf.ts';
import type { TaskFold } from '../rows.ts';
import { type Call, call, leafStatement } from '../statement.ts';
import { nullableArray, plainArray, textArray, uuidArray } from '../text.ts';
import { keyColumns } from './run.ts';

const RUNNING = taskStates.code('running');
const RETURNED = taskStates.code('returned');

export type Claimed = TaskFold & { claim: NonNullable<TaskFold['claim']> };
export type Ended = TaskFold & { last: AttemptEnded };

/** First claims that are still running at the end of the batch. */
const insertClaimedTasks = leafStatement(
  'insert_claimed_tasks',
  (leaf) => `
  insert into task_${leaf} (shard, run_id, task_no, attempt_no, fence, worker_id, claimed_at, state, lost_count)
  select u.*, ${RUNNING}, 0
    from unnest($1::smallint[], $2::bigint[], $3::integer[], $4::integer[], $5::bigint[], $6::uuid[], $7::bigint[]) as u`,
);

export function insertRunningTasks(leaf: Leaf, tasks: readonly Claimed[]): Call {
  return call(
    insertClaimedTasks(leaf),
    ...keyColumns(tasks),
    plainArray(tasks.map((task) => task.taskNo)),
    ...claimColumns(tasks),
  );
}

/** First claims that were also returned or ended within the batch. */
const insertWholeTasks = leafStatement(
  'insert_whole_tasks',
  (leaf) => `
  insert into task_${leaf} (shard, run_id, task_no, attempt_no, fence, worker_id, claimed_at, state, lost_count, started_at,
    ended_at, retry_at, outcome, error, return_reason, returned_at)
  select *
    from unnest($1::smallint[], $2::bigint[], $3::integer[], $4::integer[], $5::bigint[], $6::uuid[], $7::bigint[],
      $8::smallint[], $9::integer[], $10::bigint[], $11::bigint[], $12::bigint[], $13::smallint[], $14::text[], $15::smallint[],
      $16::bigint[])`,
);

export function insertChangedTasks(leaf: Leaf, tasks: readonly Claimed[]): Call {
  return call(
    insertWholeTasks(leaf),
    ...keyColumns(tasks),
    plainArray(tasks.map((task) => task.taskNo)),
    ...claimColumns(tasks),
    plainArray(tasks.map(stateOf)),
    plainArray(tasks.map((task) => task.end?.lostCount ?? 0)),
    ...endColumns(tasks),
    ...returnColumns(tasks),
  );
}

/** Ends of attempts that were claimed in an earlier commit: the row has the rest. */
const endTasks = leafStatement(
  'end_tasks',
  (leaf) => `
  with hit as (
    update task_${leaf} t set state = u.state, lost_count = u.lost_count, started_at = u.started_at, ended_at = u.ended_at,
        retry_at = u.retry_at, outcome = u.outcome, error = u.error
      from unnest($1::smallint[], $2::bigint[], $3::integer[], $4::bigint[], $5::smallint[], $6::integer[], $7::bigint[],
          $8::bigint[], $9::bigint[], $10::smallint[], $11::text[])
        as u (shard, run_id, task_no, fence, state, lost_count, started_at, ended_at, retry_at, outcome, error)
     where t.shard = u.shard and t.run_id = u.run_id and t.task_no = u.task_no and t.fence = u.fence
    returning 1)
  select expect_rows('end_tasks', count(*), $12::integer) from hit`,
);

export function endRunningTasks(leaf: Leaf, tasks: readonly Ended[]): Call {
  return call(
    endTasks(leaf),
    ...keyColumns(tasks),
    plainArray(tasks.map((task) => task.taskNo)),
    plainArray(tasks.map((task) => task.last.fence)),
    plainArray(tasks.map(stateOf)),
    plainArray(tasks.map((task) => task.last.lostCount)),
    ...endColumns(tasks),
    tasks.length,
  );
}

/** Claims anew, returns, and ends of what was claimed anew here. Null in the claim's columns: claimed in an earlier commit. */
const changeTasks = leafStatement(
  'change_tasks',
  (leaf) => `
  with hit as (
    update task_${leaf} t set
        attempt_no = coalesce(u.attempt_no, t.attempt_no), fence = coalesce(u.fence, t.fence),
        worker_id = coalesce(u.worker_id, t.worker_id), claimed_at = coalesce(u.claimed_at, t.claimed_at),
        state = u.state, lost_count = coalesce(u.lost_count, t.lost_count), started_at = u.started_at,
        ended_at = u.ended_at, retry_at = u.retry_at, outcome = u.outcome, error = u.error,
        return_reason = u.return_reason, returned_at = u.returned_at
      from unnest($1::smallint[], $2::bigint[], $3::integer[], $4::integer[], $5::bigint[], $6::uuid[], $7::bigint[],
          $8::smallint[], $9::integer[], $10::bigint[], $11::bigint[], $12::bigint[], $13::smallint[], $14::text[],
          $15::smallint[], $16::bigint[])
        as u (shard, run_id, task_no, attempt_no, fence, worker_id, claimed_at, state, lost_count, started_at, ended_at,
          retry_at, outcome, error, return_reason, returned_at)
     where t.shard = u.shard and t.run_id = u.run_id and t.task_no = u.task_no
    returning 1)
  select expect_rows('change_tasks', count(*), $17::integer) from hit`,
);

export function changeKnownTasks(leaf: Leaf, tasks: readonly TaskFold[]): Call {
  return call(
    changeTasks(leaf),
    ...keyColumns(tasks),
    plainArray(tasks.map((task) => task.taskNo)),
    nullableArray(tasks.map((task) => task.claim?.attemptNo ?? null)),
    nullableArray(tasks.map((task) => task.claim?.fence ?? null)),
    textArray(tasks.map((task) => task.claim?.workerId ?? null)),
    nullableArray(tasks.map((task) => task.claim?.at ?? null)),
    plainArray(tasks.map(stateOf)),
    nullableArray(tasks.map((task) => task.end?.lostCount ?? null)),
    ...endColumns(tasks),
    ...returnColumns(tasks),
    tasks.length,
  );
}

function claimColumns(tasks: readonly Claimed[]): string[] {
  return [
    plainArray(tasks.map((task) => task.claim.attemptNo)),
    plainArray(tasks.map((task) => task.claim.fence)),
    uuidArray(tasks.map((task) => task.claim.workerId)),
    plainArray(tasks.map((task) => task.claim.at)),
  ];
}

/** Null unless the end was the last that happened: a claim after it begins with a clean row. */
function endColumns(tasks: readonly TaskFold[]): string[] {
  const ends = tasks.map(({ last }) => (last.kind === 'AttemptEnded' ? last : null));
  return [
    nullableArray(ends.map((end) => end?.startedAt ?? null)),
    nullableArray(ends.map((end) => end?.endedAt ?? null)),
    nullableArray(ends.map((end) => end?.retryAt ?? null)),
    nullableArray(ends.map((end) => (end === null ? null : attemptOutcomes.code(end.outcome)))),
    textArray(ends.map((end) => end?.error ?? null)),
  ];
}

function returnColumns(tasks: readonly TaskFold[]): string[] {
  const returns = tasks.map(({ last }) => (last.kind === 'ClaimReturned' ? last : null));
  return [
    nullableArray(returns.map((returned) => (returned === null ? null : returnReasons.code(returned.reason)))),
    nullableArray(returns.map((returned) => returned?.at ?? null)),
  ];
}

function stateOf({ last }: TaskFold): number {
  if (last.kind === 'AttemptEnded') return taskStates.code(last.taskState);
  return last.kind === 'ClaimReturned' ? RETURNED : RUNNING;
}
