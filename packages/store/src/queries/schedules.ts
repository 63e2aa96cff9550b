/** Schedules, for people. Every statement names the tenant (I65). */
import type { DagId, Instant, ScheduleNo, ScheduleSpec, StoredSchedule, TenantId } from '@signalbox/engine';
import type { Row } from '../batch.ts';
import { scheduleOrigins } from '../codes.ts';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { decodeNullableText, decodeText, encodeText } from '../text.ts';
import { HIDDEN_DAG_PREFIX } from './dag-filter.ts';

export interface ListedSchedule {
  readonly dagId: DagId;
  readonly dagName: string;
  readonly scheduleNo: ScheduleNo;
  readonly name: string;
  readonly origin: StoredSchedule['origin'];
  readonly spec: ScheduleSpec;
  readonly revision: number;
  readonly paused: boolean;
  readonly decidedUntil: Instant;
  /** Why the server itself has paused it. */
  readonly fault: string | null;
  /** Who set it as it is, and when. */
  readonly setBy: string;
  readonly setAt: Instant;
  /** How many of its windows have become runs. */
  readonly fired: number;
}

export interface ListSchedules {
  /** The last one of the page before. */
  readonly after: { readonly dagName: string; readonly scheduleNo: number } | null;
  readonly limit: number;
  /** Of this dag only. */
  readonly dagName?: string;
  readonly paused?: boolean;
  readonly origin?: StoredSchedule['origin'];
}

const COLUMNS = `d.dag_id, d.name, s.schedule_no, s.name, s.origin, s.spec::text, s.revision, s.paused, s.decided_until, s.fault, s.actor, s.at, s.fired`;
const TABLES = 'dag d join dag_schedule s on s.shard = d.shard and s.dag_id = d.dag_id';

/**
 * Leans on the index `dag_name` and on the unique key (shard, dag_id, schedule_no): a page is read in their order, dag by dag, and
 * ends with its limit. Null for a filter: all. Delayed runs are none of them; those of jobs are, where their hidden dag is named.
 */
const selectSchedules = statement(
  'list_schedules',
  `
  select ${COLUMNS}
    from ${TABLES}
   where d.tenant_id = $1::integer and not s.delayed and d.name >= $2::text and (d.name > $2::text or s.schedule_no > $3::integer)
     and ($5::text is null or d.name = $5::text) and ($6::boolean is null or s.paused = $6::boolean)
     and ($5::text is not null or d.name not like '${HIDDEN_DAG_PREFIX}%')
     and ($7::smallint is null or s.origin = $7::smallint)
   order by d.name, s.schedule_no limit $4::integer`,
);

const selectSchedule = statement(
  'find_schedule',
  `select ${COLUMNS} from ${TABLES} where d.tenant_id = $1::integer and d.name = $2::text and s.name = $3::text and not s.delayed`,
);

/** In order of the dag's name, and of their numbers. */
export async function listSchedules(
  database: Database,
  tenantId: TenantId,
  { after, limit, dagName, paused, origin }: ListSchedules,
): Promise<ListedSchedule[]> {
  const from = [encodeText(after?.dagName ?? dagName ?? ''), after?.scheduleNo ?? 0] as const;
  const filters = [
    dagName === undefined ? null : encodeText(dagName),
    paused === undefined ? null : String(paused),
    origin === undefined ? null : scheduleOrigins.code(origin),
  ];
  const read = call(selectSchedules, tenantId, ...from, limit, ...filters);
  const [found] = await database.snapshot((ask) => ask([read], { last: true }));
  return (found?.rows ?? []).map(parse);
}

export async function findSchedule(
  database: Database,
  tenantId: TenantId,
  { dagName, name }: { dagName: string; name: string },
): Promise<ListedSchedule | null> {
  const read = call(selectSchedule, tenantId, encodeText(dagName), encodeText(name));
  const [found] = await database.snapshot((ask) => ask([read], { last: true }));
  const row = found?.rows[0];
  return row === undefined ? null : parse(row);
}

function parse(row: Row): ListedSchedule {
  const [dagId, dagName, scheduleNo, name, origin, spec, revision, paused, decidedUntil, fault, actor, at, fired] = row;
  return {
    dagId: Number(dagId) as DagId,
    dagName: decodeText(dagName ?? ''),
    scheduleNo: Number(scheduleNo) as ScheduleNo,
    name: decodeText(name ?? ''),
    origin: scheduleOrigins.word(Number(origin)),
    spec: JSON.parse(spec ?? 'null') as ScheduleSpec,
    revision: Number(revision),
    paused: paused === 't',
    decidedUntil: Number(decidedUntil) as Instant,
    fault: decodeNullableText(fault ?? null),
    setBy: decodeText(actor ?? ''),
    setAt: Number(at) as Instant,
    fired: Number(fired),
  };
}
