/** Rows of `window_decision` and `silent_worker`. Leans on their keys. */
import type { SilenceFold, WindowDecided, WindowSkipped } from '@signalbox/engine';
import { skipReasons } from '../codes.ts';
import { bigints, integers, smallints } from '../columns.ts';
import type { Leaf } from '../leaf.ts';
import { type Call, call, leafStatement, rowsOf, statement } from '../statement.ts';
import { plainArray, textArray, uuidArray } from '../text.ts';

const insertWindows = leafStatement(
  'insert_windows',
  (leaf) => `
  insert into window_decision_${leaf} (shard, dag_id, fires_at, wall_time, run_id, skipped, count, until_at, at, schedule_no, name)
  ${rowsOf(
    'shard smallint',
    'dag_id bigint',
    'fires_at bigint',
    'wall_time text',
    'run_id bigint',
    'skipped smallint',
    'count integer',
    'until_at bigint',
    'at bigint',
    'schedule_no integer',
    'name text',
  )}`,
);

export function decideWindows(leaf: Leaf, windows: readonly WindowDecided[]): Call {
  return call(
    insertWindows(leaf),
    smallints(windows.map((window) => window.shard)),
    bigints(windows.map((window) => window.dagId)),
    bigints(windows.map((window) => window.firesAt)),
    textArray(windows.map((window) => window.wallTime ?? '')),
    bigints(windows.map((window) => window.runId)),
    smallints(windows.map((window) => (window.skipped === null ? null : skipReasons.code(window.skipped)))),
    integers(windows.map((window) => window.count)),
    bigints(windows.map((window) => window.untilAt)),
    bigints(windows.map((window) => window.at)),
    integers(windows.map((window) => window.scheduleNo)),
    textArray(windows.map((window) => window.name)),
  );
}

/** Rare: a run whose requirements were not met in time. The row may have gone with its day. */
const skipWindows = leafStatement(
  'change_windows',
  (leaf) => `
  update window_decision_${leaf} w set skipped = u.skipped
    from unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::integer[], $5::smallint[])
      as u (shard, dag_id, fires_at, schedule_no, skipped)
   where w.shard = u.shard and w.dag_id = u.dag_id and w.fires_at = u.fires_at and w.wall_time = '' and w.schedule_no = u.schedule_no`,
);

export function skipDecided(leaf: Leaf, windows: readonly WindowSkipped[]): Call {
  return call(
    skipWindows(leaf),
    plainArray(windows.map((window) => window.shard)),
    plainArray(windows.map((window) => window.dagId)),
    plainArray(windows.map((window) => window.firesAt)),
    plainArray(windows.map((window) => window.scheduleNo)),
    plainArray(windows.map((window) => skipReasons.code(window.skipped))),
  );
}

const deleteSilence = statement(
  'delete_silence',
  `
  delete from silent_worker s using unnest($1::smallint[], $2::uuid[]) as u (shard, worker_id)
   where s.shard = u.shard and s.worker_id = u.worker_id`,
);

/** Stored once: a worker that was silent before keeps its first instant (I25). */
const insertSilence = statement(
  'insert_silence',
  `
  insert into silent_worker (shard, worker_id) select * from unnest($1::smallint[], $2::uuid[])
  on conflict (shard, worker_id) do nothing`,
);

export function changeSilence(workers: readonly SilenceFold[]): Call[] {
  const columns = (list: readonly SilenceFold[]) => [
    plainArray(list.map((worker) => worker.shard)),
    uuidArray(list.map((worker) => worker.workerId)),
  ];
  const heard = workers.filter((worker) => worker.heard);
  const silent = workers.filter((worker) => worker.silent);
  return [
    ...(heard.length > 0 ? [call(deleteSilence, ...columns(heard))] : []),
    ...(silent.length > 0 ? [call(insertSilence, ...columns(silent))] : []),
  ];
}
