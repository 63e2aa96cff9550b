/** Rows of `window_decision` and `silent_worker`: inserted or deleted by key, never changed. */
import type { SilenceFold, WindowDecided } from '@signalbox/engine';
import { skipReasons } from '../codes.ts';
import type { Leaf } from '../leaf.ts';
import { type Call, call, leafStatement, rowsOf, statement } from '../statement.ts';
import { nullableArray, plainArray, textArray, uuidArray } from '../text.ts';

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
    plainArray(windows.map((window) => window.shard)),
    plainArray(windows.map((window) => window.dagId)),
    plainArray(windows.map((window) => window.firesAt)),
    textArray(windows.map((window) => window.wallTime ?? '')),
    nullableArray(windows.map((window) => window.runId)),
    nullableArray(windows.map((window) => (window.skipped === null ? null : skipReasons.code(window.skipped)))),
    plainArray(windows.map((window) => window.count)),
    plainArray(windows.map((window) => window.untilAt)),
    plainArray(windows.map((window) => window.at)),
    plainArray(windows.map((window) => window.scheduleNo)),
    textArray(windows.map((window) => window.name)),
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
