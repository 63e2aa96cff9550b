/** Manual actions on tasks and on runs that have ended. They are rare, and read from the rows what the change does not carry. */
import type { RunForced, RunReopened, TaskCleared, TaskMarked } from '@signalbox/engine';
import { phases, taskStates } from '../codes.ts';
import type { Leaf } from '../leaf.ts';
import { type Call, call, leafStatement, rowsOf } from '../statement.ts';
import { nullableArray, plainArray, textArray } from '../text.ts';
import { keyColumns } from './run.ts';

const OPEN = phases.code('open');
const CLOSING = phases.code('closing');
const ENDED = phases.code('ended');
const CLEARED = taskStates.code('cleared');

/** Leans on the primary key (shard, run_id) of the partition. */
const openRuns = leafStatement(
  'open_runs',
  (leaf) => `
  with hit as (
    update run_${leaf} r set phase = case when u.as_closing then ${CLOSING} else ${OPEN} end,
        outcome = case when u.as_closing then r.outcome end, closing_at = case when u.as_closing then r.closing_at end,
        closing_actor = case when u.as_closing then r.closing_actor end, ended_at = null,
        forced_at = null, forced_by = null,
        admitted = u.admitted, admitted_at = case when u.admitted then u.at end, reopened_at = u.at, reopened_by = u.actor,
        retries = coalesce(u.retry_no, r.retries), notes = case when u.as_closing then r.notes else u.notes end
      from (${rowsOf('shard smallint', 'run_id bigint', 'admitted boolean', 'at bigint', 'actor text', 'retry_no smallint', 'as_closing boolean', 'notes text')}) u
     where r.shard = u.shard and r.run_id = u.run_id and r.phase = ${ENDED}
    returning 1)
  select expect_rows('open_runs', count(*), $9::integer) from hit`,
);

/** A run that was open once and is to go on has had a claim. */
const liveAgain = leafStatement(
  'live_again',
  (leaf) => `
  with hit as (
    insert into live_run (shard, run_id, priority, dag_id, admitted, claimed)
    select r.shard, r.run_id, r.priority, r.dag_id, u.admitted, true
      from (${rowsOf('shard smallint', 'run_id bigint', 'admitted boolean')}) u
      join run_${leaf} r on r.shard = u.shard and r.run_id = u.run_id
    returning 1)
  select expect_rows('live_again', count(*), $4::integer) from hit`,
);

export function reopenRuns(leaf: Leaf, runs: readonly RunReopened[]): Call[] {
  const keys = keyColumns(runs);
  const admitted = plainArray(runs.map((run) => run.admitted));
  const ats = plainArray(runs.map((run) => run.at));
  const actors = textArray(runs.map((run) => run.actor));
  const asClosing = plainArray(runs.map((run) => run.asClosing === true));
  const retryNos = nullableArray(runs.map(({ retryNo }) => (retryNo === 0 ? null : retryNo)));
  const notes = textArray(runs.map((run) => run.notes ?? null));
  return [
    call(openRuns(leaf), ...keys, admitted, ats, actors, retryNos, asClosing, notes, runs.length),
    call(liveAgain(leaf), ...keys, admitted, runs.length),
  ];
}

/** Leans on the primary key (shard, run_id) of the partition. */
const markForced = leafStatement(
  'force_runs',
  (leaf) => `
  with hit as (
    update run_${leaf} r set forced_at = u.at, forced_by = u.actor
      from (${rowsOf('shard smallint', 'run_id bigint', 'at bigint', 'actor text')}) u
     where r.shard = u.shard and r.run_id = u.run_id and r.phase = ${CLOSING}
    returning 1)
  select expect_rows('force_runs', count(*), $5::integer) from hit`,
);

export function forceRuns(leaf: Leaf, runs: readonly RunForced[]): Call {
  const ats = plainArray(runs.map((run) => run.at));
  return call(markForced(leaf), ...keyColumns(runs), ats, textArray(runs.map((run) => run.actor)), runs.length);
}

/**
 * The newest attempt moves to its own row before something else overwrites the task's. One that was retried, or cleared before, has
 * it already; a task that was marked, or whose claim came back, shows none.
 */
const insertKept = leafStatement(
  'keep_attempts',
  (leaf) => `
  insert into attempt_${leaf} (shard, run_id, task_no, attempt_no, fence, worker_id, outcome, claimed_at, started_at, ended_at,
    retry_at, error, code, fingerprint, speculative)
  select t.shard, t.run_id, t.task_no, t.attempt_no, t.fence, t.worker_id, t.outcome, t.claimed_at, t.started_at, t.ended_at,
      u.at, t.error, t.code, t.fingerprint, (t.notes::json ->> 'speculative')::integer = t.attempt_no
    from (${rowsOf('shard smallint', 'run_id bigint', 'task_no integer', 'at bigint')}) u
    join task_${leaf} t on t.shard = u.shard and t.run_id = u.run_id and t.task_no = u.task_no
   where t.outcome is not null
  on conflict (shard, run_id, task_no, attempt_no) do nothing`,
);

export function keepAttempts(leaf: Leaf, tasks: readonly (TaskCleared | TaskMarked)[]): Call {
  return call(
    insertKept(leaf),
    ...keyColumns(tasks),
    plainArray(tasks.map((task) => task.taskNo)),
    plainArray(tasks.map((task) => task.at)),
  );
}

/** Leans on the primary key (shard, run_id, task_no) of the partition. */
const markCleared = leafStatement(
  'clear_tasks',
  (leaf) => `
  with hit as (
    update task_${leaf} t set state = ${CLEARED}, budget_base = coalesce(u.budget_base, t.budget_base),
        lost_count = case when u.budget_base is null then t.lost_count else 0 end,
        cleared_at = u.at, cleared_by = u.actor, facts = null, notes = coalesce(u.notes, t.notes),
        fingerprint = null, quick_count = null, quick_since = null,
        checkpoint = case when u.was_done then null else t.checkpoint end
      from (${rowsOf(
        'shard smallint',
        'run_id bigint',
        'task_no integer',
        'fence bigint',
        'budget_base integer',
        'at bigint',
        'actor text',
        'notes text',
        'was_done boolean',
      )}) u
     where t.shard = u.shard and t.run_id = u.run_id and t.task_no = u.task_no and t.fence = u.fence
    returning 1)
  select expect_rows('clear_tasks', count(*), $10::integer) from hit`,
);

export function clearTasks(leaf: Leaf, tasks: readonly TaskCleared[]): Call[] {
  return [
    keepAttempts(leaf, tasks),
    call(
      markCleared(leaf),
      ...keyColumns(tasks),
      plainArray(tasks.map((task) => task.taskNo)),
      plainArray(tasks.map((task) => task.fence)),
      nullableArray(tasks.map((task) => (task.freshBudget ? task.attemptNo : null))),
      plainArray(tasks.map((task) => task.at)),
      textArray(tasks.map((task) => task.actor)),
      textArray(tasks.map((task) => task.notes ?? null)),
      // What a task that succeeded has left behind is of no use to the next attempt.
      plainArray(tasks.map(({ from }) => from === 'succeeded')),
      tasks.length,
    ),
  ];
}
