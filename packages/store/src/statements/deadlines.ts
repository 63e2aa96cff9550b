/**
 * What deadlines of tasks and runs write: notes, and tasks that failed without an attempt. Few runs have any. Updates use
 * the primary keys of the partition.
 */

import type { RunNote, TaskNote } from '@signalbox/engine';
import { NOBODY } from '@signalbox/engine';
import { taskStates } from '../codes.ts';
import type { Leaf } from '../leaf.ts';
import { type Call, call, leafStatement, rowsOf } from '../statement.ts';
import { nullableArray, plainArray, textArray } from '../text.ts';
import { claimLiveRuns } from './marks.ts';
import { keyColumns } from './run.ts';

const CLEARED = taskStates.code('cleared');
const EXPIRED = taskStates.code('expired');

/** A task that was never claimed: what it is its upstream says, as of one that was cleared. */
const insertUnclaimed = leafStatement(
  'insert_unclaimed',
  (leaf) => `
  insert into task_${leaf} (shard, run_id, task_no, notes, claimed_at, state, attempt_no, fence, worker_id, lost_count)
  ${rowsOf('shard smallint', 'run_id bigint', 'task_no integer', 'notes text', 'claimed_at bigint', 'state smallint')}, 0, 0, '${NOBODY}', 0`,
);

const updateTaskNotes = leafStatement(
  'note_tasks',
  (leaf) => `
  with hit as (
    update task_${leaf} t set notes = u.notes, attempt_no = coalesce(u.expired_after, t.attempt_no),
        state = case when u.expired_after is null then t.state else ${EXPIRED} end
      from (${rowsOf('shard smallint', 'run_id bigint', 'task_no integer', 'notes text', 'expired_after integer')}) u
     where t.shard = u.shard and t.run_id = u.run_id and t.task_no = u.task_no
    returning 1)
  select expect_rows('note_tasks', count(*), $6::integer) from hit`,
);

const updateRunNotes = leafStatement(
  'note_runs',
  (leaf) => `
  with hit as (
    update run_${leaf} r set notes = u.notes
      from (${rowsOf('shard smallint', 'run_id bigint', 'notes text')}) u
     where r.shard = u.shard and r.run_id = u.run_id
    returning 1)
  select expect_rows('note_runs', count(*), $4::integer) from hit`,
);

export function noteTasks(leaf: Leaf, notes: readonly TaskNote[]): Call[] {
  const [made, known] = [notes.filter(({ isNew }) => isNew), notes.filter(({ isNew }) => !isNew)];
  const keys = (list: readonly TaskNote[]) => [
    ...keyColumns(list),
    plainArray(list.map(({ taskNo }) => taskNo)),
    textArray(list.map((note) => note.notes)),
  ];
  const calls: Call[] = [];
  if (made.length > 0) {
    const states = plainArray(made.map(({ expiredAfter }) => (expiredAfter === null ? CLEARED : EXPIRED)));
    calls.push(call(insertUnclaimed(leaf), ...keys(made), plainArray(made.map(({ at }) => at)), states));
    // A load asks for the tasks of no other run.
    calls.push(call(claimLiveRuns, ...keyColumns(made)));
  }
  if (known.length === 0) return calls;
  const expired = nullableArray(known.map(({ expiredAfter }) => expiredAfter));
  return [...calls, call(updateTaskNotes(leaf), ...keys(known), expired, known.length)];
}

export function noteRuns(leaf: Leaf, notes: readonly RunNote[]): Call {
  return call(updateRunNotes(leaf), ...keyColumns(notes), textArray(notes.map((note) => note.notes)), notes.length);
}
