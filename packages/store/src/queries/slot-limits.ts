/** Limits that span shards: how they are set, and what is out of each. */
import { isPool, type LimitName, SHARD_COUNT, type TenantId } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { decodeText, encodeText, textArray } from '../text.ts';

export interface StoredSlotLimit {
  readonly limit: LimitName;
  /** Whose it is. */
  readonly tenant: string;
  readonly slots: number;
  /** Slots that shards have, or that are on their way. */
  readonly granted: number;
  /** Not all shards have heard of it. */
  readonly isUnheard: boolean;
  readonly setAt: number;
  readonly setBy: string;
}

/** What the scheduler is told of caps. */
export interface CapRule {
  readonly limit: LimitName;
  readonly no: number;
  readonly isLimited: boolean;
}

const selectCaps = statement(
  'select_slot_caps',
  "select limit_name, no, slots is not null from slot_limit where limit_name not like 'pool/%' order by limit_name",
);

const COLUMNS = `
  select l.limit_name, l.slots, coalesce(sum(g.given + g.seized - g.returned), 0),
      count(*) filter (where g.heard_no >= l.since_no), l.set_at, l.set_by, coalesce(t.name, '')
    from slot_limit l left join tenant t on t.tenant_id = l.tenant_id left join slot_grant g on g.shard = l.shard and g.limit_name = l.limit_name
   where l.slots is not null and l.limit_name not like 'kept/%'`;
const GROUPED = 'group by l.shard, l.limit_name, t.name order by l.limit_name, t.name';

const selectOfTenant = statement(
  'select_slot_limits',
  `${COLUMNS} and (l.tenant_id = $1::integer or $2::boolean and (l.limit_name like 'tenant/%' or l.limit_name like 'starts/%/tenant/%')) ${GROUPED}`,
);
/** Whatever the time is that they are per. */
const selectRates = statement(
  'select_slot_rates',
  `${COLUMNS} and l.limit_name like 'starts/%' and regexp_replace(l.limit_name, '^starts/[0-9]+/', '') = any ($1::text[]) ${GROUPED}`,
);
const selectNamed = statement('select_slot_limits_named', `${COLUMNS} and l.limit_name = any ($1::text[]) ${GROUPED}`);

/** Tells also whether this one is set, or was. */
const selectCounts = statement(
  'select_slot_limit_counts',
  `select count(*) filter (where slots is not null), count(*), bool_or(limit_name = $3::text and slots is not null),
      bool_or(limit_name = $3::text)
    from slot_limit where tenant_id = $1::integer and starts_with(limit_name, $2::text)`,
);

export interface SlotLimitCounts {
  readonly set: number;
  /** With those that were removed. */
  readonly ever: number;
  readonly isSet: boolean;
  readonly wasSet: boolean;
}

export async function readCaps(database: Database): Promise<CapRule[]> {
  const { rows } = await database.one(call(selectCaps));
  return rows.map(([limit, no, isLimited]) => ({
    limit: decodeText(limit!) as LimitName,
    no: Number(no),
    isLimited: isLimited === 't',
  }));
}

/** Those of a tenant; for the one that runs the installation also the caps of others. */
export async function listSlotLimits(
  database: Database,
  { tenantId, isOfInstallation }: { readonly tenantId: TenantId; readonly isOfInstallation: boolean },
): Promise<StoredSlotLimit[]> {
  return (await database.one(call(selectOfTenant, tenantId, isOfInstallation))).rows.map(limitOf);
}

/** How many limits of the kind of this one the tenant has. */
export async function countSlotLimits(
  database: Database,
  tenantId: TenantId,
  limit: LimitName,
): Promise<SlotLimitCounts> {
  const kind = limit.slice(0, limit.indexOf('/') + 1);
  const { rows } = await database.one(call(selectCounts, tenantId, kind, encodeText(limit)));
  const [set, ever, isSet, wasSet] = rows[0] ?? [];
  return { set: Number(set), ever: Number(ever), isSet: isSet === 't', wasSet: wasSet === 't' };
}

/** Those of these that are set. */
export async function findSlotLimits(database: Database, names: readonly LimitName[]): Promise<StoredSlotLimit[]> {
  return (await database.one(call(selectNamed, textArray(names)))).rows.map(limitOf);
}

/** Starts per time of these. */
export async function findSlotRates(database: Database, of: readonly LimitName[]): Promise<StoredSlotLimit[]> {
  return (await database.one(call(selectRates, textArray(of)))).rows.map(limitOf);
}

function limitOf([name, slots, granted, heard, setAt, setBy, tenant]: readonly (string | null)[]): StoredSlotLimit {
  const limit = decodeText(name!) as LimitName;
  return {
    limit,
    slots: Number(slots),
    granted: Number(granted),
    isUnheard: !isPool(limit) && Number(heard) < SHARD_COUNT,
    setAt: Number(setAt),
    setBy: decodeText(setBy!),
    tenant: decodeText(tenant!),
  };
}
