/** Tasks that tasks have added to their run. They are stored in the row of the run, so a run without any pays nothing. */
import type { AddedFold, AddedTask } from '@signalbox/engine';
import type { Leaf } from '../leaf.ts';
import { type Call, call, leafStatement, rowsOf } from '../statement.ts';
import { textArray } from '../text.ts';
import { keyColumns } from './run.ts';

/** Leans on the primary key (shard, run_id) of the partition. Those of the same number are written over. */
const updateAdded = leafStatement(
  'add_tasks',
  (leaf) => `
  with hit as (
    update run_${leaf} r set added = coalesce(r.added, '{}') || u.added::jsonb
      from (${rowsOf('shard smallint', 'run_id bigint', 'added text')}) u
     where r.shard = u.shard and r.run_id = u.run_id
    returning 1)
  select expect_rows('add_tasks', count(*), $4::integer) from hit`,
);

export function addTasks(leaf: Leaf, folds: readonly AddedFold[]): Call {
  const texts = folds.map(({ tasks }) => JSON.stringify(Object.fromEntries(tasks)));
  return call(updateAdded(leaf), ...keyColumns(folds), textArray(texts), folds.length);
}

type Stored = Readonly<Record<string, AddedTask>>;

/** In order of their numbers; undefined where there are none. */
export function readAdded(stored: Stored | null | undefined): readonly AddedTask[] | undefined {
  if (stored === null || stored === undefined) return undefined;
  return Object.values(stored).sort((a, b) => a.no - b.no);
}

export function parseAdded(text: string | null | undefined): readonly AddedTask[] | undefined {
  return text === null || text === undefined ? undefined : readAdded(JSON.parse(text) as Stored);
}
