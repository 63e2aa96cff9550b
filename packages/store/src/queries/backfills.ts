/** Backfills as people see them, with the counts of their runs. */
import {
  type BackfillSpec,
  type BackfillState,
  type BackfillUid,
  type DagId,
  type Instant,
  type RunId,
  type RunOutcome,
  type RunUid,
  type ScheduleNo,
  type ShardNo,
  shardOfUid,
  type TenantId,
} from '@signalbox/engine';
import type { Row } from '../batch.ts';
import { backfillStates, phases, runOutcomes } from '../codes.ts';
import type { Database } from '../database.ts';
import type { KnownDays } from '../leaf.ts';
import { call, statement } from '../statement.ts';
import { decodeNullableText, decodeText, encodeText, parseIntegers } from '../text.ts';
import { idsOfPage } from './list-children.ts';
import { type ListedRuns, type ListRuns, newestFirst, viewRuns } from './run-list.ts';
import type { RunView } from './run-view.ts';

export interface BackfillRow {
  readonly shard: ShardNo;
  readonly uid: BackfillUid;
  readonly dagName: string;
  readonly spec: BackfillSpec;
  readonly state: BackfillState;
  readonly reason: string | null;
  readonly actor: string;
  readonly startedAt: Instant;
  /** When it was last paused or resumed, or was over. */
  readonly stateAt: Instant | null;
  readonly windowCount: number;
  readonly createdCount: number;
  readonly skippedCount: number;
  readonly activeRuns: number;
  readonly ended: Readonly<Record<RunOutcome, number>>;
}

const ENDED = phases.code('ended');
const endedAs = (outcome: RunOutcome) =>
  `count(*) filter (where r.phase = ${ENDED} and r.outcome = ${runOutcomes.code(outcome)})`;

/** Leans on the index (shard, backfill, run_id) of each partition. */
const COLUMNS = `b.shard, b.uid, d.name, b.spec::text, b.state, b.reason, b.actor, b.started_at, b.state_at, b.window_count,
    b.created_count, b.skipped_count, c.active, c.succeeded, c.failed, c.cancelled`;
const COUNTS = `cross join lateral (
      select count(*) filter (where r.phase <> ${ENDED}) as active, ${endedAs('succeeded')} as succeeded,
          ${endedAs('failed')} as failed, ${endedAs('cancelled')} as cancelled
        from run r where r.shard = b.shard and r.backfill = b.uid and r.backfill is not null) c`;

const selectOne = statement(
  'get_backfill',
  `
  select ${COLUMNS} from backfill b join dag d on d.shard = b.shard and d.dag_id = b.dag_id ${COUNTS}
   where b.shard = $1::smallint and b.uid = $2::uuid and b.tenant_id = $3::integer`,
);

/** There are few: the newest are sorted out of all of a tenant. */
const selectPage = statement(
  'list_backfills',
  `
  select ${COLUMNS} from (
      select * from backfill b where b.tenant_id = $1::integer and ($2::bigint is null or b.started_at < $2::bigint)
         and ($4::text is null or (b.shard, b.dag_id) in (
           select shard, dag_id from dag where tenant_id = $1::integer and name = $4::text))
       order by b.started_at desc, b.uid desc limit $3::integer) b
    join dag d on d.shard = b.shard and d.dag_id = b.dag_id ${COUNTS}
   order by b.started_at desc, b.uid desc`,
);

export async function getBackfill(database: Database, tenantId: TenantId, uid: string): Promise<BackfillRow | null> {
  const { rows } = await database.one(call(selectOne, shardOfUid(uid as BackfillUid), uid, tenantId));
  return rows[0] === undefined ? null : parseBackfill(rows[0]);
}

export interface ListBackfills {
  readonly dagName?: string | undefined;
  readonly before: Instant | null;
  readonly limit: number;
}

export async function listBackfills(
  database: Database,
  tenantId: TenantId,
  { dagName, before, limit }: ListBackfills,
): Promise<BackfillRow[]> {
  const name = dagName === undefined ? null : encodeText(dagName);
  const { rows } = await database.one(call(selectPage, tenantId, before, limit, name));
  return rows.map(parseBackfill);
}

function parseBackfill(row: Row): BackfillRow {
  const [shard, uid, name, spec, state, reason, actor, startedAt, stateAt, windows, created, skipped] = row;
  const [active, succeeded, failed, cancelled] = row.slice(12);
  return {
    shard: Number(shard) as ShardNo,
    uid: uid as BackfillUid,
    dagName: decodeText(name ?? ''),
    spec: JSON.parse(decodeText(spec ?? 'null')) as BackfillSpec,
    state: backfillStates.word(Number(state)),
    reason: decodeNullableText(reason ?? null),
    actor: decodeText(actor ?? ''),
    startedAt: Number(startedAt) as Instant,
    stateAt: stateAt === null || stateAt === undefined ? null : (Number(stateAt) as Instant),
    windowCount: Number(windows),
    createdCount: Number(created),
    skippedCount: Number(skipped),
    activeRuns: Number(active),
    ended: { succeeded: Number(succeeded), failed: Number(failed), cancelled: Number(cancelled) },
  };
}

export interface WindowRange {
  readonly shard: ShardNo;
  readonly dagId: DagId;
  readonly scheduleNo: ScheduleNo;
  readonly fromAt: Instant;
  readonly toAt: Instant;
}

/** Leans on the index (shard, dag_id, fires_at, run_id) of each partition. */
const selectNewest = statement(
  'list_window_runs',
  `
  select distinct on (r.fires_at) r.fires_at, r.uid, r.phase, r.outcome from run r
   where r.shard = $1::smallint and r.dag_id = $2::bigint and r.fires_at between $4::bigint and $5::bigint
     and r.fires_at is not null and coalesce(r.schedule_no, 1) = $3::integer
   order by r.fires_at, r.run_id desc`,
);

/** The newest run of each window of the range that has any. */
export async function newestRunsOf(
  database: Database,
  { shard, dagId, scheduleNo, fromAt, toAt }: WindowRange,
): Promise<
  ReadonlyMap<number, { readonly uid: RunUid; readonly isLive: boolean; readonly outcome: RunOutcome | null }>
> {
  const { rows } = await database.one(call(selectNewest, shard, dagId, scheduleNo, fromAt, toAt));
  return new Map(
    rows.map(([firesAt, uid, phase, outcome]) => [
      Number(firesAt),
      {
        uid: uid as RunUid,
        isLive: Number(phase) !== ENDED,
        outcome: outcome === null || outcome === undefined ? null : runOutcomes.word(Number(outcome)),
      },
    ]),
  );
}

const selectIds = statement(
  'list_backfill_runs',
  `
  select array_agg(r.run_id)::text from run r
   where r.shard = $1::smallint and r.backfill = $2::uuid and r.backfill is not null and r.tenant_id = $3::integer`,
);

export interface ListBackfillRuns extends ListRuns {
  readonly backfill: string;
}

/** Newest first. Null when there is no such backfill. */
export async function listBackfillRuns(
  database: Database,
  days: KnownDays,
  tenantId: TenantId,
  { backfill, dagName, state, actor, before, limit }: ListBackfillRuns,
): Promise<ListedRuns | null> {
  if ((await getBackfill(database, tenantId, backfill)) === null) return null;
  return database.snapshot(async (ask) => {
    const [found] = await ask([call(selectIds, shardOfUid(backfill as BackfillUid), backfill, tenantId)]);
    const ids = idsOfPage(parseIntegers(found?.rows[0]?.[0]) as RunId[], before ?? null, limit);
    if (ids.length === 0) return { runs: [], next: null };
    const views = await viewRuns(ask, days, tenantId, ids);
    const below = views.filter((run) => before == null || newestFirst(before, run) < 0);
    const page = below.slice(0, limit);
    const isWanted = ({ dagName: dag, phase, outcome, createdBy }: RunView) =>
      (dagName === undefined || dag === dagName) &&
      (actor === undefined || createdBy === actor) &&
      (state === undefined || phase === state || (phase === 'ended' && outcome === state));
    const last = page.at(-1);
    return { runs: page.filter(isWanted), next: last !== undefined && below.length > page.length ? last : null };
  });
}
