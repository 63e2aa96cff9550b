/** Dags and their windows, for people. Every statement names the tenant (I65). */
import {
  type ConcurrencySpec,
  type DagId,
  type DagSpec,
  type EventTrigger,
  type Instant,
  type Priority,
  type RunId,
  type RunUid,
  type ScheduleNo,
  type ScheduleSpec,
  type ShardNo,
  type SkipReason,
  type TenantId,
  triggersOf,
  type VersionNo,
} from '@signalbox/engine';
import type { Row } from '../batch.ts';
import { skipReasons } from '../codes.ts';
import { type Database, holdToOrder } from '../database.ts';
import { call, statement } from '../statement.ts';
import { decodeNullableText, decodeText, encodeText, textArray } from '../text.ts';
import { DAG_FILTER, type DagFilter, filterValues } from './dag-filter.ts';
import { OWNER_BY_HAND } from './dag-owners.ts';
import type { VersionKey } from './known-specs.ts';
import { type ShownSpec, type ShownSpecs, shownOf } from './shown-specs.ts';

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
  readonly maxActiveTasksPerRun: number | null;
  readonly concurrency: ConcurrencySpec | null;
  readonly taskCount: number;
  readonly description: string | null;
  readonly tags: readonly string[];
  readonly owner: string | null;
  /** The event that makes runs of it. */
  readonly event: string | null;
  readonly triggers: readonly EventTrigger[];
  readonly bundle: string | null;
  /** Where the files of its version were deployed from. */
  readonly source: string | null;
  readonly retiredAt: Instant | null;
  /** Its schedules in the order in which they were made, up to `SCHEDULES_SHOWN`. Delayed runs are none of them. */
  readonly schedules: readonly ScheduleOfDag[];
  /** How many there are, counted up to `SCHEDULES_COUNTED`. */
  readonly scheduleCount: number;
}

interface ScheduleOfDag {
  readonly name: string;
  readonly spec: ScheduleSpec;
  readonly revision: number;
  readonly paused: boolean;
  readonly decidedUntil: Instant;
  /** Why the server itself has paused it. */
  readonly fault: string | null;
  readonly fired: number;
}

const SCHEDULES_SHOWN = 20;
const SCHEDULES_COUNTED = 1_000;

export interface DagDetails extends DagView {
  readonly spec: DagSpec;
}

export interface ListDags extends DagFilter {
  readonly after: string | null;
  readonly limit: number;
}

export interface ListWindows {
  readonly dagName: string;
  /** The last one of the page before. */
  readonly before: Pick<WindowView, 'firesAt' | 'scheduleNo'> | null;
  readonly limit: number;
  /** Of this schedule only. */
  readonly scheduleNo?: ScheduleNo | null;
  /** Of schedules that had this name. */
  readonly name?: string | null;
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

/** Texts of the specs are apart: PostgreSQL builds no JSON of texts with an escaped zero character. */
const OWN = `select * from dag_schedule s
             where s.shard = d.shard and s.dag_id = d.dag_id and not s.delayed order by s.schedule_no`;
const DAG_COLUMNS = `d.shard, d.dag_id, d.name, d.version_no, v.hash, v.at, v.actor, d.retired_at,
    s.specs::text, s.facts::text, (select count(*) from (${OWN} limit ${SCHEDULES_COUNTED}) s), ${OWNER_BY_HAND}`;
const SHOWN_OF_DAG = `join dag_version v on v.shard = d.shard and v.dag_id = d.dag_id and v.version_no = d.version_no
    left join lateral (
      select json_agg(s.spec order by s.schedule_no) as specs,
             json_agg(json_build_array(s.name, s.revision, s.paused, s.decided_until, s.fault, s.fired) order by s.schedule_no) as facts
        from (${OWN} limit ${SCHEDULES_SHOWN}) s) s on true`;

/** Both lean on the index `dag_name` (tenant_id, name). A list finds its dags first: what is shown of a dag is read for those alone. */
const selectDag = statement(
  'find_dag',
  `select ${DAG_COLUMNS}, v.spec::text from dag d ${SHOWN_OF_DAG} where d.tenant_id = $1::integer and d.name = $2::text`,
);
const selectDags = statement(
  'list_dags',
  `
  select ${DAG_COLUMNS} from (
    select d.* from dag d
      join dag_version v on v.shard = d.shard and v.dag_id = d.dag_id and v.version_no = d.version_no
     where d.tenant_id = $1::integer and d.name > $8::text and ${DAG_FILTER}
     order by d.name limit $9::integer) d
    ${SHOWN_OF_DAG} order by d.name`,
);

/** Leans on the primary key (tenant_id, event, …) of event_trigger, which has no row of a retired dag. */
const selectTriggered = statement(
  'dags_on_event',
  `
  select e.shard, e.dag_id, d.name, e.event, e.triggers::text
    from event_trigger e join dag d on d.shard = e.shard and d.dag_id = e.dag_id
   where e.tenant_id = $1::integer and e.event = any($2::text[]) and d.tenant_id = e.tenant_id order by d.name, e.event`,
);

/** Leans on the primary key (shard, dag_id, fires_at, wall_time, schedule_no) of each partition, from its end. */
const selectWindows = statement(
  'list_windows',
  `
  select w.fires_at, w.until_at, w.wall_time, w.count, w.skipped, w.run_id, r.uid, w.at, coalesce(w.name, s.name), w.schedule_no
    from (select w.* from dag d join window_decision w on w.shard = d.shard and w.dag_id = d.dag_id
           where d.tenant_id = $1::integer and d.name = $2::text and (w.fires_at, w.schedule_no) < ($3::bigint, $6::integer)
             and w.fires_at <= $3::bigint and ($5::integer is null or w.schedule_no = $5::integer) and ($7::text is null or w.name = $7::text)
           order by w.fires_at desc, w.schedule_no desc, w.wall_time limit $4::integer) w
    left join run r on r.shard = w.shard and r.run_id = w.run_id
    left join dag_schedule s on s.shard = w.shard and s.dag_id = w.dag_id and s.schedule_no = w.schedule_no
   order by w.fires_at desc, w.schedule_no desc, w.wall_time`,
);

/** After the columns of all dags. */
const SPEC_AT = 12;

export async function findDag(database: Database, tenantId: TenantId, name: string): Promise<DagDetails | null> {
  const row = await database.snapshot(async (ask) => {
    const [found] = await ask([call(selectDag, tenantId, encodeText(name))], { last: true });
    return found?.rows[0];
  });
  if (row === undefined) return null;
  const spec = JSON.parse(row[SPEC_AT] ?? 'null') as DagSpec;
  return { ...parseDag(row, shownOf(spec)), spec };
}

/** In order of name, after the one given; those that were deleted only when asked for. */
export async function listDags(
  database: Database,
  tenantId: TenantId,
  { after, limit, shown, ...filter }: ListDags & { readonly shown: ShownSpecs },
): Promise<DagView[]> {
  return database.snapshot(async (ask) => {
    const read = call(selectDags, tenantId, ...filterValues(filter), encodeText(after ?? ''), limit);
    const [, found] = await ask([holdToOrder, read]);
    const rows = found?.rows ?? [];
    const specs = await shown.read(ask, rows.map(versionOf));
    return rows.map((row, no) => parseDag(row, specs[no] as ShownSpec));
  });
}

export interface TriggeredDag extends Pick<DagView, 'shard' | 'dagId' | 'name'> {
  readonly triggers: readonly EventTrigger[];
}

/** The dags with triggers for these types, in order of name; a dag comes once for each type. */
export async function dagsOnEvent(
  database: Database,
  tenantId: TenantId,
  types: readonly string[],
): Promise<TriggeredDag[]> {
  return database.snapshot(async (ask) => {
    const [found] = await ask([call(selectTriggered, tenantId, textArray(types))], { last: true });
    return (found?.rows ?? []).map(([shard, dagId, name, event, triggers]) => ({
      shard: Number(shard) as ShardNo,
      dagId: Number(dagId) as DagId,
      name: decodeText(name ?? ''),
      triggers: readTriggers(decodeText(event ?? ''), triggers ?? null),
    }));
  });
}

/** Rows of before triggers had more than a type have no list. */
function readTriggers(event: string, triggers: string | null): readonly EventTrigger[] {
  return triggers === null ? triggersOf({ on: { event } }) : (JSON.parse(triggers) as EventTrigger[]);
}

/** Newest first. */
export async function listWindows(
  database: Database,
  tenantId: TenantId,
  { dagName, before, limit, scheduleNo = null, name = null }: ListWindows,
): Promise<WindowView[]> {
  return database.snapshot(async (ask) => {
    const { firesAt, scheduleNo: beforeNo } = before ?? { firesAt: Number.MAX_SAFE_INTEGER, scheduleNo: 0 };
    const read = call(
      selectWindows,
      tenantId,
      encodeText(dagName),
      firesAt,
      limit,
      scheduleNo,
      beforeNo,
      name === null ? null : encodeText(name),
    );
    const [found] = await ask([read], { last: true });
    return (found?.rows ?? []).map(parseWindow);
  });
}

function versionOf([shard, dagId, , versionNo]: Row): VersionKey {
  return {
    shard: Number(shard) as ShardNo,
    dagId: Number(dagId) as DagId,
    versionNo: Number(versionNo) as VersionNo,
  };
}

function parseDag(row: Row, shown: ShownSpec): DagView {
  const [shard, dagId, name, versionNo, hash, at, actor, retiredAt, specs, facts, scheduleCount, owner] = row;
  const triggers = (shown.on ?? null) === null ? [] : triggersOf(shown);
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
    maxActiveTasksPerRun: shown.maxActiveTasksPerRun ?? null,
    concurrency: shown.concurrency ?? null,
    taskCount: shown.taskCount,
    description: shown.description ?? null,
    tags: shown.tags ?? [],
    owner: owner == null ? (shown.owner ?? null) : decodeText(owner),
    event: triggers[0]?.type ?? null,
    triggers,
    bundle: shown.bundle ?? null,
    source: shown.source ?? null,
    retiredAt: retiredAt === null || retiredAt === undefined ? null : (Number(retiredAt) as Instant),
    schedules: parseSchedules(specs ?? null, facts ?? null),
    scheduleCount: Number(scheduleCount),
  };
}

type Facts = [
  name: string,
  revision: number,
  paused: boolean,
  decidedUntil: number,
  fault: string | null,
  fired: number,
];

function parseSchedules(specs: string | null, facts: string | null): readonly ScheduleOfDag[] {
  if (specs === null || facts === null) return [];
  const all = JSON.parse(facts) as Facts[];
  return (JSON.parse(specs) as ScheduleSpec[]).map((spec, no) => {
    const [name, revision, paused, decidedUntil, fault, fired] = all[no]!;
    return {
      ...{ name: decodeText(name), spec, revision, paused, decidedUntil: decidedUntil as Instant, fired },
      fault: decodeNullableText(fault),
    };
  });
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
