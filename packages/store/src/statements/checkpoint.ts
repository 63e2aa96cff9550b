/** Checkpoints: the value is a payload of the run, overwritten by the next one; its number is in the row of the task. */
import type { CheckpointRef, CheckpointSaved, Fence, TaskNo } from '@signalbox/engine';
import type { Leaf } from '../leaf.ts';
import { type Call, call, leafStatement, rowsOf } from '../statement.ts';
import { plainArray, textArray } from '../text.ts';
import { keyColumns } from './run.ts';

/** The number under which the checkpoint of a task stands among the payloads of its run: -1 is that of the params. */
export const checkpointNo = (taskNo: TaskNo): number => -2 - taskNo;

/** Leans on the primary key (shard, run_id, task_no) of the partition. */
const putCheckpoints = leafStatement(
  'put_checkpoints',
  (leaf) => `
  insert into payload_${leaf} (shard, run_id, task_no, body)
  ${rowsOf('shard smallint', 'run_id bigint', 'task_no integer', 'body text')}
  on conflict (shard, run_id, task_no) do update set body = excluded.body`,
);

/** Leans on the same key of the tasks. */
const noteCheckpoints = leafStatement(
  'note_checkpoints',
  (leaf) => `
  with hit as (
    update task_${leaf} t set checkpoint = u.checkpoint
      from (${rowsOf('shard smallint', 'run_id bigint', 'task_no integer', 'checkpoint text')}) u
     where t.shard = u.shard and t.run_id = u.run_id and t.task_no = u.task_no
    returning 1)
  select expect_rows('note_checkpoints', count(*), $5::integer) from hit`,
);

export function saveCheckpoints(leaf: Leaf, saved: readonly CheckpointSaved[]): Call[] {
  const keys = keyColumns(saved);
  return [
    call(
      putCheckpoints(leaf),
      ...keys,
      plainArray(saved.map(({ taskNo }) => checkpointNo(taskNo))),
      textArray(saved.map(({ value }) => value)),
    ),
    call(
      noteCheckpoints(leaf),
      ...keys,
      plainArray(saved.map(({ taskNo }) => taskNo)),
      textArray(saved.map(({ fence, no }) => `${fence}.${no}`)),
      saved.length,
    ),
  ];
}

export function readCheckpointRef(text: string | undefined): CheckpointRef | null {
  if (text === undefined) return null;
  const [fence, no] = text.split('.').map(Number);
  return { fence: fence as Fence, no: no ?? 0 };
}
