/** The mark of the runs of a backfill, and the runs that windows have. */
import type { DagId, Instant, Need, RunCreated, RunId, RunUid, ScheduleNo, StoredWindow } from '@signalbox/engine';
import type { CallResult } from '../batch.ts';
import { phases, runOutcomes } from '../codes.ts';
import type { Leaf } from '../leaf.ts';
import { type Call, call, leafStatement, rowsOf, statement } from '../statement.ts';
import { plainArray, uuidArray } from '../text.ts';
import { keyColumns } from './run.ts';

const ENDED = phases.code('ended');

const markRuns = leafStatement(
  'mark_backfill_runs',
  (leaf) => `
  with hit as (
    update run_${leaf} r set backfill = u.backfill
      from (${rowsOf('shard smallint', 'run_id bigint', 'backfill uuid')}) u
     where r.shard = u.shard and r.run_id = u.run_id
    returning 1)
  select expect_rows('mark_backfill_runs', count(*), $4::integer) from hit`,
);

export function markBackfillRuns(leaf: Leaf, runs: readonly RunCreated[]): Call {
  const uids = uuidArray(runs.map(({ backfill }) => backfill ?? ''));
  return call(markRuns(leaf), ...keyColumns(runs), uids, runs.length);
}

/** Rows of before a dag could have several. */
const FIRST_SCHEDULE = 1;

/** Leans on the index (shard, dag_id, fires_at, run_id) of each partition. */
const selectWindowRuns = statement(
  'select_window_runs',
  `
  select u.dag_id, u.schedule_no, u.fires_at, w.run_id, w.uid, w.phase, w.outcome
    from unnest($1::smallint[], $2::bigint[], $3::integer[], $4::bigint[]) as u (shard, dag_id, schedule_no, fires_at)
    left join lateral (
      select r.run_id, r.uid, r.phase, r.outcome from run r
       where r.shard = u.shard and r.dag_id = u.dag_id and r.fires_at = u.fires_at
         and coalesce(r.schedule_no, ${FIRST_SCHEDULE}) = u.schedule_no
       order by r.run_id desc limit 1) w on true`,
);

type WindowsNeed = Omit<Extract<Need, { kind: 'windows' }>, 'kind' | 'schedule'> & Pick<StoredWindow, 'scheduleNo'>;

export function readWindowRuns(needs: readonly WindowsNeed[]): Call {
  const windows = needs.flatMap(({ at, ...schedule }) => at.map((firesAt) => ({ ...schedule, firesAt })));
  return call(
    selectWindowRuns,
    plainArray(windows.map(({ shard }) => shard)),
    plainArray(windows.map(({ dagId }) => dagId)),
    plainArray(windows.map(({ scheduleNo }) => scheduleNo)),
    plainArray(windows.map(({ firesAt }) => firesAt)),
  );
}

export function parseWindowRuns({ rows }: CallResult): StoredWindow[] {
  return rows.map(([dagId, scheduleNo, at, runId, uid, phase, outcome]) => ({
    dagId: Number(dagId) as DagId,
    scheduleNo: Number(scheduleNo) as ScheduleNo,
    at: Number(at) as Instant,
    run:
      runId === null || runId === undefined
        ? null
        : {
            runId: Number(runId) as RunId,
            uid: uid as RunUid,
            isLive: Number(phase) !== ENDED,
            outcome: outcome === null || outcome === undefined ? null : runOutcomes.word(Number(outcome)),
          },
  }));
}
