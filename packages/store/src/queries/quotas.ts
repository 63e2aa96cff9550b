/** Quotas of tenants: how they are set, and how much of each is used. */
import { QUOTA_LEVELS, type QuotaLevel, type QuotaName, type QuotaRule, type TenantId } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { decodeText } from '../text.ts';

export interface StoredQuotaView {
  readonly quota: QuotaName;
  readonly soft: number | null;
  readonly hard: number | null;
  readonly raise: {
    readonly soft: number | null;
    readonly hard: number | null;
    readonly until: number;
    readonly reason: string | null;
  } | null;
  readonly level: QuotaLevel;
  /** Of `runs` and `fanout`: by the dag with the most. */
  readonly used: number;
  readonly setAt: number;
  readonly setBy: string;
}

const NOW = 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint';
/** Both conditions: the first one makes the index of quotas usable. */
const COUNTED = `from rate_start r where r.limit_name like 'quota/%' and r.until_at > ${NOW}
  and r.limit_name like 'quota/' || q.quota || '/' || q.tenant_id || '%'
  and split_part(r.limit_name, '/', 3) = q.tenant_id::text`;

/** Of the dag with the most. */
const RUNS = `(select coalesce(max(n), 0) from (select sum(r.starts) as n ${COUNTED} group by r.limit_name) as dags)`;

const selectRules = statement(
  'select_quota_rules',
  `select q.tenant_id, q.quota,
      case when q.raised_until > ${NOW} then q.raised_soft else q.soft end,
      case when q.raised_until > ${NOW} then q.raised_hard else q.hard end,
      case q.quota when 'failures' then (select coalesce(sum(r.starts), 0) ${COUNTED}) when 'runs' then ${RUNS} when 'fanout' then ${RUNS}
        else 0 end
    from quota q order by q.tenant_id, q.quota`,
);

const selectOfTenant = statement(
  'select_quotas',
  `select q.quota, q.soft, q.hard, q.raised_soft, q.raised_hard, q.raised_until, q.reason, q.level, q.set_at, q.set_by,
      case q.quota
        when 'tasks' then (select coalesce(sum(g.given + g.seized - g.returned), 0) from slot_grant g
            where g.shard = q.shard and g.limit_name = 'tenant/' || q.tenant_id)
        when 'runs' then ${RUNS}
        when 'fanout' then ${RUNS}
        else (select coalesce(sum(r.starts), 0) ${COUNTED})
      end
    from quota q where q.tenant_id = $1::integer order by q.quota`,
);

/** What the scheduler is told. */
export async function readQuotas(database: Database): Promise<QuotaRule[]> {
  const { rows } = await database.one(call(selectRules));
  return rows.map(([tenantId, quota, soft, hard, used]) => ({
    tenantId: Number(tenantId) as TenantId,
    quota: decodeText(quota!) as QuotaName,
    soft: numberOrNull(soft),
    hard: numberOrNull(hard),
    used: Number(used),
  }));
}

export async function listQuotas(database: Database, tenantId: TenantId): Promise<StoredQuotaView[]> {
  const { rows } = await database.one(call(selectOfTenant, tenantId));
  return rows.map((row) => {
    const [quota, soft, hard, raisedSoft, raisedHard, until, reason, level, setAt, setBy, used] = row;
    const raised = { soft: numberOrNull(raisedSoft), hard: numberOrNull(raisedHard) };
    const why = reason == null ? null : decodeText(reason);
    return {
      quota: decodeText(quota!) as QuotaName,
      soft: numberOrNull(soft),
      hard: numberOrNull(hard),
      raise: until == null ? null : { ...raised, until: Number(until), reason: why },
      level: QUOTA_LEVELS[Number(level)] ?? 'under',
      used: Number(used),
      setAt: Number(setAt),
      setBy: decodeText(setBy!),
    };
  });
}

function numberOrNull(text: string | null | undefined): number | null {
  return text == null ? null : Number(text);
}
