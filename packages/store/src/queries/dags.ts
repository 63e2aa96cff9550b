/** Dags and their windows, for people. Every statement names the tenant (I65). */
import type {
  DagId,
  DagSpec,
  Instant,
  Priority,
  RunId,
  RunUid,
  ScheduleNo,
  ScheduleSpec,
  ShardNo,
  SkipReason,
  TenantId,
  VersionNo,
} from '@signalbox/engine';
import type { Row } from '../batch.ts';
import { skipReasons } from '../codes.ts';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { decodeNullableText, decodeText, encodeText } from '../text.ts';

export interface DagView {
  readonly shard: ShardNo;
  readonly dagId: DagId;
  readonly name: string;
  readonly versionNo: VersionNo;
  readonly hash: string;
  readonly deployedAt: Instant;
  readonly deployedBy: string;
  readonly priority: Priority;
  readonly maxActiveRuns: number | null;
  readonly maxActiveTasks: number | null;
  readonly taskCount: number;
  readonly description: string | null;
  /** The event that makes runs of it. */
  readonly event: string | null;
  readonly bundle: string | null;
  /** Where the files of its version were deployed from. */
  readonly source: string | null;
  readonly retiredAt: Instant | null;
  /** The first of its schedules. */
  readonly schedule: {
    readonly name: string;
    readonly spec: ScheduleSpec;
    readonly revision: number;
    readonly paused: boolean;
    readonly decidedUntil: Instant;
    /** Why the server itself has paused it. */
    readonly fault: string | null;
    readonly fired: number;
  } | null;
}

export interface DagDetails extends DagView {
  readonly spec: DagSpec;
}

export interface ListDags {
  readonly after: string | null;
  readonly limit: number;
  readonly retired?: boolean;
}

export interface ListWindows {
  readonly dagName: string;
  /** The last one of the page before. */
  readonly before: Pick<WindowView, 'firesAt' | 'scheduleNo'> | null;
  readonly limit: number;
  /** Of this schedule only. */
  readonly scheduleNo?: ScheduleNo | null;
}

export interface WindowView {
  /** Null for one that was removed since. */
  readonly schedule: string | null;
  readonly scheduleNo: ScheduleNo;
  readonly firesAt: Instant;
  readonly untilAt: Instant;
  readonly wallTime: string | null;
  readonly count: number;
  readonly skipped: SkipReason | null;
  readonly runId: RunId | null;
  readonly runUid: RunUid | null;
  readonly decidedAt: Instant;
}

/**
 * What a list shows of a spec, without its tasks: those of a page may be many megabytes. PostgreSQL looks into no JSON that has
 * an escaped zero character; of such a one, which the API does not let in, all is read.
 */
const SHOWN_SPEC = `case when strpos(v.spec::text, '\\u0000') > 0 then v.spec::text else json_build_object(
      'priority', v.spec->'priority', 'maxActiveRuns', v.spec->'maxActiveRuns', 'maxActiveTasks', v.spec->'maxActiveTasks',
      'taskCount', json_array_length(v.spec->'tasks'), 'description', v.spec->'description', 'bundle', v.spec->'bundle', 'source', v.spec->'source',
      'on', v.spec->'on')::text end`;
const DAG_COLUMNS = `d.shard, d.dag_id, d.name, d.version_no, v.hash, v.at, v.actor, s.spec::text, s.revision, s.paused,
    s.decided_until, ${SHOWN_SPEC}, d.retired_at, s.fault, s.name, s.fired`;
const DAG_TABLES = `dag d
    join dag_version v on v.shard = d.shard and v.dag_id = d.dag_id and v.version_no = d.version_no
    left join lateral (select * from dag_schedule s where s.shard = d.shard and s.dag_id = d.dag_id
                        order by s.schedule_no limit 1) s on true`;

/** Both lean on the index `dag_name` (tenant_id, name). */
const selectDag = statement(
  'find_dag',
  `select ${DAG_COLUMNS}, v.spec::text from ${DAG_TABLES} where d.tenant_id = $1::integer and d.name = $2::text`,
);
const selectDags = statement(
  'list_dags',
  `
  select ${DAG_COLUMNS} from ${DAG_TABLES}
   where d.tenant_id = $1::integer and d.name > $2::text and ($4::boolean or d.retired_at is null)
   order by d.name limit $3::integer`,
);

/** Leans on the primary key (tenant_id, event, …) of event_trigger, which has no row of a retired dag. */
const selectTriggered = statement(
  'dags_on_event',
  `
  select e.shard, e.dag_id, d.name
    from event_trigger e join dag d on d.shard = e.shard and d.dag_id = e.dag_id
   where e.tenant_id = $1::integer and e.event = $2::text and d.tenant_id = e.tenant_id order by d.name`,
);

/** Leans on the primary key (shard, dag_id, fires_at, wall_time, schedule_no) of each partition, from its end. */
const selectWindows = statement(
  'list_windows',
  `
  select w.fires_at, w.until_at, w.wall_time, w.count, w.skipped, w.run_id, r.uid, w.at, s.name, w.schedule_no
    from (select w.* from dag d join window_decision w on w.shard = d.shard and w.dag_id = d.dag_id
           where d.tenant_id = $1::integer and d.name = $2::text and (w.fires_at, w.schedule_no) < ($3::bigint, $6::integer)
             and w.fires_at <= $3::bigint and ($5::integer is null or w.schedule_no = $5::integer)
           order by w.fires_at desc, w.schedule_no desc, w.wall_time limit $4::integer) w
    left join run r on r.shard = w.shard and r.run_id = w.run_id
    left join dag_schedule s on s.shard = w.shard and s.dag_id = w.dag_id and s.schedule_no = w.schedule_no
   order by w.fires_at desc, w.schedule_no desc, w.wall_time`,
);

export async function findDag(database: Database, tenantId: TenantId, name: string): Promise<DagDetails | null> {
  const row = await database.snapshot(async (ask) => {
    const [found] = await ask([call(selectDag, tenantId, encodeText(name))], { last: true });
    return found?.rows[0];
  });
  return row === undefined ? null : { ...parseDag(row), spec: JSON.parse(row[16] ?? 'null') as DagSpec };
}

/** In order of name, after the one given; those that were deleted only when asked for. */
export async function listDags(
  database: Database,
  tenantId: TenantId,
  { after, limit, retired = false }: ListDags,
): Promise<DagView[]> {
  return database.snapshot(async (ask) => {
    const [found] = await ask([call(selectDags, tenantId, encodeText(after ?? ''), limit, retired)], { last: true });
    return (found?.rows ?? []).map(parseDag);
  });
}

/** The dags that an event of this name makes runs of, in order of name. */
export async function dagsOnEvent(
  database: Database,
  tenantId: TenantId,
  event: string,
): Promise<Pick<DagView, 'shard' | 'dagId' | 'name'>[]> {
  return database.snapshot(async (ask) => {
    const [found] = await ask([call(selectTriggered, tenantId, encodeText(event))], { last: true });
    return (found?.rows ?? []).map(([shard, dagId, name]) => ({
      shard: Number(shard) as ShardNo,
      dagId: Number(dagId) as DagId,
      name: decodeText(name ?? ''),
    }));
  });
}

/** Newest first. */
export async function listWindows(
  database: Database,
  tenantId: TenantId,
  { dagName, before, limit, scheduleNo = null }: ListWindows,
): Promise<WindowView[]> {
  return database.snapshot(async (ask) => {
    const { firesAt, scheduleNo: beforeNo } = before ?? { firesAt: Number.MAX_SAFE_INTEGER, scheduleNo: 0 };
    const read = call(selectWindows, tenantId, encodeText(dagName), firesAt, limit, scheduleNo, beforeNo);
    const [found] = await ask([read], { last: true });
    return (found?.rows ?? []).map(parseWindow);
  });
}

function parseDag(row: Row): DagView {
  const [shard, dagId, name, versionNo, hash, at, actor, spec, revision, paused, decidedUntil] = row;
  const shown = JSON.parse(row[11] ?? '{}') as DagSpec & { readonly taskCount?: number };
  return {
    shard: Number(shard) as ShardNo,
    dagId: Number(dagId) as DagId,
    name: decodeText(name ?? ''),
    versionNo: Number(versionNo) as VersionNo,
    hash: decodeText(hash ?? ''),
    deployedAt: Number(at) as Instant,
    deployedBy: decodeText(actor ?? ''),
    priority: shown.priority,
    maxActiveRuns: shown.maxActiveRuns,
    maxActiveTasks: shown.maxActiveTasks,
    taskCount: shown.taskCount ?? shown.tasks.length,
    description: shown.description ?? null,
    event: shown.on?.event ?? null,
    bundle: shown.bundle ?? null,
    source: shown.source ?? null,
    retiredAt: row[12] === null || row[12] === undefined ? null : (Number(row[12]) as Instant),
    schedule:
      spec === null || spec === undefined
        ? null
        : {
            name: decodeText(row[14] ?? ''),
            spec: JSON.parse(spec) as ScheduleSpec,
            revision: Number(revision),
            paused: paused === 't',
            decidedUntil: Number(decidedUntil) as Instant,
            fault: decodeNullableText(row[13] ?? null),
            fired: Number(row[15]),
          },
  };
}

function parseWindow(row: Row): WindowView {
  const [firesAt, untilAt, wallTime, count, skipped, runId, uid, at, schedule, scheduleNo] = row;
  return {
    schedule: decodeNullableText(schedule ?? null),
    scheduleNo: Number(scheduleNo) as ScheduleNo,
    firesAt: Number(firesAt) as Instant,
    untilAt: Number(untilAt) as Instant,
    wallTime: wallTime === '' || wallTime === null || wallTime === undefined ? null : decodeText(wallTime),
    count: Number(count),
    skipped: skipped === null || skipped === undefined ? null : skipReasons.word(Number(skipped)),
    runId: runId === null || runId === undefined ? null : (Number(runId) as RunId),
    runUid: (uid ?? null) as RunUid | null,
    decidedAt: Number(at) as Instant,
  };
}
