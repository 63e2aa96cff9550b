/** Rows of `task`. Updates use the primary key (shard, run_id, task_no) of the partition. */
import type { AttemptEnded, TaskFold } from '@signalbox/engine';
import { attemptOutcomes, returnReasons, taskStates } from '../codes.ts';
import { bigints, integers, smallints, uuids } from '../columns.ts';
import type { Leaf } from '../leaf.ts';
import { type Call, call, leafStatement, rowsOf, type Value } from '../statement.ts';
import { sparseTexts } from '../text.ts';
import { keyColumns } from './run.ts';

const RUNNING = taskStates.code('running');
const RETURNED = taskStates.code('returned');

const CLAIM_COLUMNS = [
  'shard smallint',
  'run_id bigint',
  'task_no integer',
  'attempt_no integer',
  'fence bigint',
  'worker_id uuid',
  'claimed_at bigint',
] as const;
const CLAIM_NAMES = CLAIM_COLUMNS.map((column) => column.split(' ')[0]).join(', ');
const END_COLUMNS = [
  'started_at bigint',
  'ended_at bigint',
  'retry_at bigint',
  'outcome smallint',
  'error text',
  'facts text',
] as const;
const MORE_COLUMNS = ['code text', 'notes text'] as const;
const RETURN_COLUMNS = ['return_reason smallint', 'returned_at bigint'] as const;

export type Claimed = TaskFold & { claim: NonNullable<TaskFold['claim']> };
export type Ended = TaskFold & { last: AttemptEnded };

/** First claims that are still running at the end of the batch. */
const insertClaimedTasks = leafStatement(
  'insert_claimed_tasks',
  (leaf) => `
  insert into task_${leaf} (${CLAIM_NAMES}, state, lost_count)
  ${rowsOf(...CLAIM_COLUMNS)}, ${RUNNING}, 0`,
);

export function insertRunningTasks(leaf: Leaf, tasks: readonly Claimed[]): Call {
  return call(
    insertClaimedTasks(leaf),
    ...keyColumns(tasks),
    integers(tasks.map((task) => task.taskNo)),
    ...claimColumns(tasks),
  );
}

/** First claims that were also returned or ended within the batch. */
const insertWholeTasks = leafStatement(
  'insert_whole_tasks',
  (leaf) => `
  insert into task_${leaf} (${CLAIM_NAMES}, state, lost_count, started_at, ended_at, retry_at, outcome, error, facts, code, notes,
    return_reason, returned_at)
  ${rowsOf(...CLAIM_COLUMNS, 'state smallint', 'lost_count integer', ...END_COLUMNS, ...MORE_COLUMNS, ...RETURN_COLUMNS)}`,
);

export function insertChangedTasks(leaf: Leaf, tasks: readonly Claimed[]): Call {
  return call(
    insertWholeTasks(leaf),
    ...keyColumns(tasks),
    integers(tasks.map((task) => task.taskNo)),
    ...claimColumns(tasks),
    smallints(tasks.map(stateOf)),
    integers(tasks.map((task) => task.end?.lostCount ?? 0)),
    ...endColumns(tasks),
    ...moreColumns(tasks),
    ...returnColumns(tasks),
  );
}

/** Ends of attempts that were claimed in an earlier commit: the row has the rest. */
const endTasks = leafStatement(
  'end_tasks',
  (leaf) => `
  with hit as (
    update task_${leaf} t set state = u.state, lost_count = u.lost_count, started_at = u.started_at, ended_at = u.ended_at,
        retry_at = u.retry_at, outcome = u.outcome, error = u.error, facts = u.facts
      from (${rowsOf(
        'shard smallint',
        'run_id bigint',
        'task_no integer',
        'fence bigint',
        'state smallint',
        'lost_count integer',
        ...END_COLUMNS,
      )}) u
     where t.shard = u.shard and t.run_id = u.run_id and t.task_no = u.task_no and t.fence = u.fence
    returning 1)
  select expect_rows('end_tasks', count(*), $13::integer) from hit`,
);

export function endRunningTasks(leaf: Leaf, tasks: readonly Ended[]): Call {
  return call(
    endTasks(leaf),
    ...keyColumns(tasks),
    integers(tasks.map((task) => task.taskNo)),
    bigints(tasks.map((task) => task.last.fence)),
    smallints(tasks.map(stateOf)),
    integers(tasks.map((task) => task.last.lostCount)),
    ...endColumns(tasks),
    tasks.length,
  );
}

/** New claims of known tasks, returned claims, and ends. Null in the columns of the claim: claimed in an earlier commit. */
const changeTasks = leafStatement(
  'change_tasks',
  (leaf) => `
  with hit as (
    update task_${leaf} t set
        attempt_no = coalesce(u.attempt_no, t.attempt_no), fence = coalesce(u.fence, t.fence),
        worker_id = coalesce(u.worker_id, t.worker_id), claimed_at = coalesce(u.claimed_at, t.claimed_at),
        state = u.state, lost_count = coalesce(u.lost_count, t.lost_count), started_at = u.started_at,
        ended_at = u.ended_at, retry_at = u.retry_at, outcome = u.outcome, error = u.error, facts = u.facts, code = u.code,
        notes = coalesce(u.notes, t.notes), return_reason = u.return_reason, returned_at = u.returned_at
      from (${rowsOf(...CLAIM_COLUMNS, 'state smallint', 'lost_count integer', ...END_COLUMNS, ...MORE_COLUMNS, ...RETURN_COLUMNS)}) u
     where t.shard = u.shard and t.run_id = u.run_id and t.task_no = u.task_no
    returning 1)
  select expect_rows('change_tasks', count(*), $20::integer) from hit`,
);

export function changeKnownTasks(leaf: Leaf, tasks: readonly TaskFold[]): Call {
  return call(
    changeTasks(leaf),
    ...keyColumns(tasks),
    integers(tasks.map((task) => task.taskNo)),
    integers(tasks.map((task) => task.claim?.attemptNo ?? null)),
    bigints(tasks.map((task) => task.claim?.fence ?? null)),
    uuids(tasks.map((task) => task.claim?.workerId ?? null)),
    bigints(tasks.map((task) => task.claim?.at ?? null)),
    smallints(tasks.map(stateOf)),
    integers(tasks.map((task) => task.end?.lostCount ?? null)),
    ...endColumns(tasks),
    ...moreColumns(tasks),
    ...returnColumns(tasks),
    tasks.length,
  );
}

function claimColumns(tasks: readonly Claimed[]): Value[] {
  return [
    integers(tasks.map((task) => task.claim.attemptNo)),
    bigints(tasks.map((task) => task.claim.fence)),
    uuids(tasks.map((task) => task.claim.workerId)),
    bigints(tasks.map((task) => task.claim.at)),
  ];
}

/** Null unless the end was the last that happened: a claim after it begins with a clean row. */
function endColumns(tasks: readonly TaskFold[]): Value[] {
  const ends = tasks.map(({ last }) => (last.kind === 'AttemptEnded' ? last : null));
  return [
    bigints(ends.map((end) => end?.startedAt ?? null)),
    bigints(ends.map((end) => end?.endedAt ?? null)),
    bigints(ends.map((end) => end?.retryAt ?? null)),
    smallints(ends.map((end) => (end === null ? null : attemptOutcomes.code(end.outcome)))),
    sparseTexts(ends.map((end) => end?.error ?? null)),
    sparseTexts(ends.map((end) => end?.facts ?? null)),
  ];
}

/** The code goes with the end, the notes stay until there are others. */
function moreColumns(tasks: readonly TaskFold[]): Value[] {
  return [
    sparseTexts(tasks.map(({ last }) => (last.kind === 'AttemptEnded' ? last.code : null))),
    sparseTexts(tasks.map((task) => task.notes)),
  ];
}

function returnColumns(tasks: readonly TaskFold[]): Value[] {
  const returns = tasks.map(({ last }) => (last.kind === 'ClaimReturned' ? last : null));
  return [
    smallints(returns.map((returned) => (returned === null ? null : returnReasons.code(returned.reason)))),
    bigints(returns.map((returned) => returned?.at ?? null)),
  ];
}

function stateOf({ last }: TaskFold): number {
  if (last.kind === 'AttemptEnded') return taskStates.code(last.taskState);
  return last.kind === 'ClaimReturned' ? RETURNED : RUNNING;
}
