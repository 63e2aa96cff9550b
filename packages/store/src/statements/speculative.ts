/** Where a speculative attempt takes the place of the first: the row of the task is its own from here on. Leans on the primary key. */
import type { SpeculativeTookOver } from '@signalbox/engine';
import { taskStates } from '../codes.ts';
import type { Leaf } from '../leaf.ts';
import { type Call, call, leafStatement, rowsOf } from '../statement.ts';
import { plainArray, textArray, uuidArray } from '../text.ts';
import { keyColumns } from './run.ts';

const takeOver = leafStatement(
  'take_over',
  (leaf) => `
  with hit as (
    update task_${leaf} t set attempt_no = u.attempt_no, fence = u.next_fence, worker_id = u.worker_id, claimed_at = u.claimed_at,
        notes = u.notes
      from (${rowsOf(
        'shard smallint',
        'run_id bigint',
        'task_no integer',
        'fence bigint',
        'attempt_no integer',
        'next_fence bigint',
        'worker_id uuid',
        'claimed_at bigint',
        'notes text',
      )}) u
     where t.shard = u.shard and t.run_id = u.run_id and t.task_no = u.task_no and t.fence = u.fence
       and t.state = ${taskStates.code('running')}
    returning 1)
  select expect_rows('take_over', count(*), $10::integer) from hit`,
);

export function takeOverTasks(leaf: Leaf, changes: readonly SpeculativeTookOver[]): Call {
  const nexts = changes.map(({ next }) => next);
  return call(
    takeOver(leaf),
    ...keyColumns(changes),
    plainArray(changes.map(({ taskNo }) => taskNo)),
    plainArray(changes.map(({ fence }) => fence)),
    plainArray(nexts.map(({ attemptNo }) => attemptNo)),
    plainArray(nexts.map(({ fence }) => fence)),
    uuidArray(nexts.map(({ workerId }) => workerId)),
    plainArray(nexts.map(({ claimedAt }) => claimedAt)),
    textArray(changes.map(({ notes }) => notes)),
    changes.length,
  );
}
