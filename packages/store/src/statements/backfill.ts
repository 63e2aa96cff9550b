/** Rows of `backfill`, by their primary key (shard, uid), and the mark of their runs. */
import type {
  Actor,
  BackfillFold,
  BackfillSpec,
  BackfillUid,
  DagId,
  Instant,
  Need,
  RunCreated,
  RunId,
  RunUid,
  ScheduleNo,
  ShardNo,
  StoredBackfill,
  StoredWindow,
  TenantId,
} from '@signalbox/engine';
import type { CallResult } from '../batch.ts';
import { backfillStates, phases, runOutcomes } from '../codes.ts';
import type { Leaf } from '../leaf.ts';
import { type Call, call, leafStatement, rowsOf, statement } from '../statement.ts';
import { decodeText, nullableArray, plainArray, textArray, uuidArray } from '../text.ts';
import { keyColumns } from './run.ts';

const RUNNING = backfillStates.code('running');
const PAUSED = backfillStates.code('paused');
const ENDED = phases.code('ended');

const insertBackfills = statement(
  'insert_backfills',
  `
  insert into backfill (shard, uid, tenant_id, dag_id, spec, window_count, actor, started_at, state, is_done, created_count, skipped_count)
  select u.shard, u.uid, u.tenant_id, u.dag_id, u.spec::json, u.window_count, u.actor, u.started_at, ${RUNNING}, false, 0, 0
    from (${rowsOf(
      'shard smallint',
      'uid uuid',
      'tenant_id integer',
      'dag_id bigint',
      'spec text',
      'window_count integer',
      'actor text',
      'started_at bigint',
    )}) u`,
);

/** What is null was not changed. */
const updateBackfills = statement(
  'change_backfills',
  `
  with hit as (
    update backfill b set
        cursor_at = coalesce(u.cursor_at, b.cursor_at), created_count = coalesce(u.created_count, b.created_count),
        skipped_count = coalesce(u.skipped_count, b.skipped_count), is_done = coalesce(u.is_done, b.is_done),
        state = coalesce(u.state, b.state), state_at = coalesce(u.state_at, b.state_at),
        state_actor = coalesce(u.state_actor, b.state_actor), reason = coalesce(u.reason, b.reason)
      from (${rowsOf(
        'shard smallint',
        'uid uuid',
        'cursor_at bigint',
        'created_count integer',
        'skipped_count integer',
        'is_done boolean',
        'state smallint',
        'state_at bigint',
        'state_actor text',
        'reason text',
      )}) u
     where b.shard = u.shard and b.uid = u.uid
    returning 1)
  select expect_rows('change_backfills', count(*), $11::integer) from hit`,
);

export function changeBackfills(backfills: readonly BackfillFold[]): Call[] {
  const calls: Call[] = [];
  const keys = (list: readonly BackfillFold[]) => [
    plainArray(list.map(({ shard }) => shard)),
    uuidArray(list.map(({ uid }) => uid)),
  ];
  const started = backfills.flatMap((fold) => (fold.started === null ? [] : [{ ...fold, started: fold.started }]));
  if (started.length > 0) {
    const rows = started.map((fold) => fold.started);
    calls.push(
      call(
        insertBackfills,
        ...keys(started),
        plainArray(rows.map(({ tenantId }) => tenantId)),
        plainArray(rows.map(({ dagId }) => dagId)),
        textArray(rows.map(({ spec }) => JSON.stringify(spec))),
        plainArray(rows.map(({ windowCount }) => windowCount)),
        textArray(rows.map(({ actor }) => actor)),
        plainArray(rows.map(({ at }) => at)),
      ),
    );
  }
  const changed = backfills.filter(({ moved, set }) => moved !== null || set !== null);
  if (changed.length === 0) return calls;
  const moves = changed.map(({ moved }) => moved);
  const sets = changed.map(({ set }) => set);
  const change = call(
    updateBackfills,
    ...keys(changed),
    nullableArray(moves.map((moved) => moved?.cursorAt ?? null)),
    nullableArray(moves.map((moved) => moved?.createdCount ?? null)),
    nullableArray(moves.map((moved) => moved?.skippedCount ?? null)),
    nullableArray(moves.map((moved) => moved?.isDone ?? null)),
    nullableArray(sets.map((set) => (set === null ? null : backfillStates.code(set.state)))),
    nullableArray(sets.map((set) => set?.at ?? null)),
    textArray(sets.map((set) => set?.actor ?? null)),
    textArray(sets.map((set) => set?.reason ?? null)),
    changed.length,
  );
  return [...calls, change];
}

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

/** Live runs are counted among those of the backfill, by the index (shard, backfill): there are few backfills, and many live runs. */
const BACKFILL_COLUMNS = `b.shard, b.uid, b.tenant_id, b.dag_id, b.spec::text, b.state, b.actor, b.cursor_at, b.is_done, b.created_count,
    b.skipped_count, (select count(*) from run r
      where r.shard = b.shard and r.backfill = b.uid and r.backfill is not null and r.phase <> ${ENDED} and not r.set_aside)`;

export const selectLiveBackfills = statement(
  'select_live_backfills',
  `
  select ${BACKFILL_COLUMNS} from backfill b
   where b.shard = any ($1::smallint[]) and b.state in (${RUNNING}, ${PAUSED})`,
);

const selectBackfills = statement(
  'select_backfills',
  `
  select ${BACKFILL_COLUMNS} from unnest($1::smallint[], $2::uuid[]) as u (shard, uid)
    join backfill b on b.shard = u.shard and b.uid = u.uid`,
);

export function readBackfills(needs: readonly Extract<Need, { kind: 'backfill' }>[]): Call {
  return call(selectBackfills, plainArray(needs.map(({ shard }) => shard)), textArray(needs.map(({ uid }) => uid)));
}

export function parseBackfills({ rows }: CallResult): StoredBackfill[] {
  return rows.map(([shard, uid, tenantId, dagId, spec, state, actor, cursorAt, isDone, created, skipped, live]) => ({
    shard: Number(shard) as ShardNo,
    uid: uid as BackfillUid,
    tenantId: Number(tenantId) as TenantId,
    dagId: Number(dagId) as DagId,
    spec: JSON.parse(decodeText(spec ?? 'null')) as BackfillSpec,
    state: backfillStates.word(Number(state)),
    actor: decodeText(actor ?? '') as Actor,
    cursorAt: cursorAt === null || cursorAt === undefined ? null : (Number(cursorAt) as Instant),
    isDone: isDone === 't',
    createdCount: Number(created),
    skippedCount: Number(skipped),
    liveRuns: Number(live),
  }));
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

export function readWindowRuns(needs: readonly Extract<Need, { kind: 'windows' }>[]): Call {
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
