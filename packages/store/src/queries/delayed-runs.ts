/** Runs that were asked for and have not begun: see `decide/schedule/delayed-run.ts` of the engine. Every statement names the tenant (I65). */
import {
  type DagId,
  type Instant,
  isOwnRunId,
  type RunUid,
  type ScheduleSpec,
  type ShardNo,
  shardOfUid,
  type TenantId,
  type VersionNo,
} from '@signalbox/engine';
import type { Row } from '../batch.ts';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { decodeNullableText, decodeText, encodeText } from '../text.ts';
import { shardOfOwnRunId } from './own-run-ids.ts';

export interface DelayedRun {
  readonly shard: ShardNo;
  readonly dagId: DagId;
  readonly dagName: string;
  /** The version that it would take now. */
  readonly versionNo: VersionNo;
  readonly uid: RunUid;
  readonly at: Instant;
  readonly spec: ScheduleSpec;
  readonly priority: string;
  readonly paused: boolean;
  readonly fault: string | null;
  /** Who set it as it is, and when. */
  readonly setBy: string;
  readonly setAt: Instant;
}

const COLUMNS = `s.shard, s.dag_id, d.name, v.version_no, s.name, s.spec::text, coalesce(s.spec ->> 'priority', v.spec ->> 'priority'),
    s.paused, s.fault, s.actor, s.at`;
const TABLES = `schedule_more s join dag d on d.shard = s.shard and d.dag_id = s.dag_id
    join dag_version v on v.shard = d.shard and v.dag_id = d.dag_id and v.version_no = d.version_no`;

/** Leans on the index `schedule_more_delayed`. */
const selectOne = statement(
  'find_delayed_run',
  `select ${COLUMNS} from ${TABLES}
    where s.shard = $1::smallint and s.name = $2::text and s.delayed and d.tenant_id = $3::integer`,
);

/** Leans on the index `schedule_more_due`: a page is read in its order. */
const selectList = statement(
  'list_delayed_runs',
  `select ${COLUMNS} from ${TABLES}
    where s.delayed and d.tenant_id = $1::integer
      and ((s.spec -> 'at' ->> 0)::bigint, s.name) > ($2::bigint, $3::text)
      and ($4::text is null or d.name = $4::text) and ($5::text is null or s.spec -> 'run' ->> 'actor' = $5::text)
    order by (s.spec -> 'at' ->> 0)::bigint, s.name limit $6::integer`,
);

export interface ListDelayedRuns {
  readonly dagName?: string | undefined;
  readonly actor?: string | undefined;
  /** The last one of the page before. */
  readonly after: { readonly at: number; readonly uid: string } | null;
  readonly limit: number;
}

/** Soonest first. */
export async function listDelayedRuns(
  database: Database,
  tenantId: TenantId,
  { dagName, actor, after, limit }: ListDelayedRuns,
): Promise<DelayedRun[]> {
  const filters = [dagName, actor].map((text) => (text === undefined ? null : encodeText(text)));
  const { rows } = await database.one(call(selectList, tenantId, after?.at ?? -1, after?.uid ?? '', ...filters, limit));
  return rows.map(parse);
}

export async function findDelayedRun(database: Database, tenantId: TenantId, uid: string): Promise<DelayedRun | null> {
  const shard = isOwnRunId(uid) ? await shardOfOwnRunId(database, tenantId, uid) : shardOfUid(uid as RunUid);
  if (shard === null || Number.isNaN(shard)) return null;
  const [row] = (await database.one(call(selectOne, shard, uid, tenantId))).rows;
  return row === undefined ? null : parse(row);
}

function parse(row: Row): DelayedRun {
  const [shard, dagId, dagName, versionNo, uid, text, priority, paused, fault, actor, at] = row;
  const spec = JSON.parse(text ?? 'null') as ScheduleSpec;
  return {
    shard: Number(shard) as ShardNo,
    dagId: Number(dagId) as DagId,
    dagName: decodeText(dagName ?? ''),
    versionNo: Number(versionNo) as VersionNo,
    uid: decodeText(uid ?? '') as RunUid,
    at: spec.at?.[0] as Instant,
    spec,
    priority: priority ?? 'normal',
    paused: paused === 't',
    fault: decodeNullableText(fault ?? null),
    setBy: decodeText(actor ?? ''),
    setAt: Number(at) as Instant,
  };
}
