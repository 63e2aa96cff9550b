/** Marks, pauses and priorities set by people. They are rare. Uses the primary keys of the partitions. */
import { NOBODY, type PauseSet, type PrioritySet, type StoredPause, type TaskMarked } from '@signalbox/engine';
import { priorities, taskStates } from '../codes.ts';
import type { Leaf } from '../leaf.ts';
import { type Call, call, leafStatement, rowsOf, statement, type Value } from '../statement.ts';
import { decodeText, nullableArray, plainArray, textArray } from '../text.ts';
import { keepAttempts } from './manual.ts';
import { keyColumns } from './run.ts';

const MARK_COLUMNS = [
  'shard smallint',
  'run_id bigint',
  'task_no integer',
  'fence bigint',
  'attempt_no integer',
  'state smallint',
  'at bigint',
  'actor text',
  'facts text',
  'reason text',
] as const;

/** Tasks that never had an attempt. */
const insertMarked = leafStatement(
  'insert_marked_tasks',
  (leaf) => `
  insert into task_${leaf} (shard, run_id, task_no, fence, attempt_no, state, claimed_at, ended_at, marked_at, marked_by, facts,
    error, worker_id, lost_count)
  select u.shard, u.run_id, u.task_no, u.fence, u.attempt_no, u.state, u.at, u.at, u.at, u.actor, u.facts, u.reason,
      '${NOBODY}'::uuid, 0
    from (${rowsOf(...MARK_COLUMNS)}) u`,
);

/** The attempt that the row showed has a row of its own by now: this one shows none. A speculative attempt may have had the fence between. */
const updateMarked = leafStatement(
  'mark_tasks',
  (leaf) => `
  with hit as (
    update task_${leaf} t set fence = u.fence, attempt_no = u.attempt_no, state = u.state, ended_at = u.at, marked_at = u.at,
        marked_by = u.actor, facts = u.facts, error = u.reason, code = null, outcome = null, started_at = null, retry_at = null,
        return_reason = null, returned_at = null
      from (${rowsOf(...MARK_COLUMNS)}) u
     where t.shard = u.shard and t.run_id = u.run_id and t.task_no = u.task_no and t.fence < u.fence
    returning 1)
  select expect_rows('mark_tasks', count(*), $11::integer) from hit`,
);

export const claimLiveRuns = statement(
  'claim_live_runs',
  `
  update live_run l set claimed = true from (${rowsOf('shard smallint', 'run_id bigint')}) u
   where l.shard = u.shard and l.run_id = u.run_id`,
);

export function markTasks(leaf: Leaf, tasks: readonly TaskMarked[]): Call[] {
  const calls: Call[] = [];
  const fresh = tasks.filter(({ firstOfTask }) => firstOfTask);
  const known = tasks.filter(({ firstOfTask }) => !firstOfTask);
  const firstOfRun = tasks.filter(({ firstOfRun }) => firstOfRun);
  if (fresh.length > 0) calls.push(call(insertMarked(leaf), ...markColumns(fresh)));
  if (known.length > 0)
    calls.push(keepAttempts(leaf, known), call(updateMarked(leaf), ...markColumns(known), known.length));
  if (firstOfRun.length > 0) calls.push(call(claimLiveRuns, ...keyColumns(firstOfRun)));
  return calls;
}

function markColumns(tasks: readonly TaskMarked[]): Value[] {
  return [
    ...keyColumns(tasks),
    plainArray(tasks.map((task) => task.taskNo)),
    plainArray(tasks.map((task) => task.fence)),
    plainArray(tasks.map((task) => task.attemptNo)),
    plainArray(tasks.map(({ state }) => taskStates.code(state === 'cancelled' ? 'stopped' : state))),
    plainArray(tasks.map((task) => task.at)),
    textArray(tasks.map((task) => task.actor)),
    textArray(tasks.map((task) => task.facts)),
    textArray(tasks.map((task) => task.reason)),
  ];
}

/** The number under which the pause of a whole run stands among those of its tasks. */
const WHOLE_RUN = -1;

/** The times of a run begin when the delay of its retry policy is over: a pause with an end. */
const setPauses = leafStatement(
  'set_pauses',
  (leaf) => `
  with hit as (
    update run_${leaf} r set pauses = case
        when u.paused then coalesce(r.pauses, '{}'::jsonb) || jsonb_build_object(u.task_no::text,
          jsonb_build_object('by', u.actor, 'at', u.at, 'until', u.until))
        else nullif(coalesce(r.pauses, '{}'::jsonb) - u.task_no::text, '{}'::jsonb) end,
        admitted_at = case
          when not u.paused and u.task_no = ${WHOLE_RUN} and r.admitted_at is not null and r.pauses -> '${WHOLE_RUN}' ->> 'until' is not null
          then u.at else r.admitted_at end
      from (${rowsOf(
        'shard smallint',
        'run_id bigint',
        'task_no integer',
        'paused boolean',
        'at bigint',
        'until bigint',
        'actor text',
      )}) u
     where r.shard = u.shard and r.run_id = u.run_id
    returning 1)
  select expect_rows('set_pauses', count(*), $8::integer) from hit`,
);

export function pauseRuns(leaf: Leaf, pauses: readonly PauseSet[]): Call {
  return call(
    setPauses(leaf),
    ...keyColumns(pauses),
    plainArray(pauses.map(({ taskNo }) => taskNo ?? WHOLE_RUN)),
    plainArray(pauses.map(({ paused }) => paused)),
    plainArray(pauses.map(({ at }) => at)),
    nullableArray(pauses.map(({ until }) => until)),
    textArray(pauses.map(({ actor }) => actor)),
    pauses.length,
  );
}

/** Leans on the primary key (shard, run_id) of the partition, and on that of `live_run`. A run that ends in this batch has no row there. */
const changePriorities = leafStatement(
  'change_priorities',
  (leaf) => `
  with given as (${rowsOf('shard smallint', 'run_id bigint', 'priority smallint')}),
  live as (
    update live_run l set priority = u.priority from given u where l.shard = u.shard and l.run_id = u.run_id),
  hit as (
    update run_${leaf} r set priority = u.priority from given u where r.shard = u.shard and r.run_id = u.run_id
    returning 1)
  select expect_rows('change_priorities', count(*), $4::integer) from hit`,
);

export function setPriorities(leaf: Leaf, changes: readonly PrioritySet[]): Call {
  return call(
    changePriorities(leaf),
    ...keyColumns(changes),
    plainArray(changes.map(({ priority }) => priorities.code(priority))),
    changes.length,
  );
}

/** In order of the tasks, the run's own first. */
export function readPauses(stored: unknown): readonly StoredPause[] {
  if (typeof stored !== 'object' || stored === null) return NONE;
  const found = Object.entries(stored as Readonly<Record<string, { by: string; at: number; until: number | null }>>);
  return found
    .map(([no, { by, at, until }]) => ({
      taskNo: (Number(no) === WHOLE_RUN ? null : Number(no)) as StoredPause['taskNo'],
      by: decodeText(by) as StoredPause['by'],
      at: at as StoredPause['at'],
      until: until as StoredPause['until'],
    }))
    .sort((a, b) => (a.taskNo ?? WHOLE_RUN) - (b.taskNo ?? WHOLE_RUN));
}

const NONE: readonly StoredPause[] = [];
