/** What attempts took, from the sums that commits keep, with the rate cards and budgets that make money of them. No attempt is looked at. */
import type { TenantId } from '@signalbox/engine';
import type { Row } from '../batch.ts';
import type { Database } from '../database.ts';
import { type Call, call, statement } from '../statement.ts';
import { decodeText, encodeText, plainArray } from '../text.ts';
import type { ChangedBy } from './audit.ts';

/** It runs the installation. */
const FIRST_TENANT = 1;
const HOURS_PER_DAY = 24;
const HOUR_MS = 3_600_000;

/** What is read with each row: how the sums are put together. */
export type UsageBy = 'tenant' | 'dag' | 'task' | 'day';

export interface UsageQuery {
  /** Null: all of them. */
  readonly tenantId: TenantId | null;
  readonly by: UsageBy;
  /** A name; tasks are told of one dag only. */
  readonly dag: string | null;
  /** Each day that is asked for, in order, with its rate card. */
  readonly days: readonly UsageDay[];
}

export interface UsageDay {
  readonly day: number;
  /** A number that the answer tells again. */
  readonly cardNo: number;
  /** What a tenant has above so many slots at a time, on average over an hour, is burst; null: nothing is. */
  readonly burstAboveSlots: number | null;
}

export interface UsageRow {
  /** The name of a tenant or a dag, `<version>/<task number>`, or the number of the day. Null for a dag that is gone. */
  readonly key: string | null;
  readonly cardNo: number;
  readonly priority: number;
  readonly attempts: number;
  readonly slotMs: number;
  /** The part of `slotMs` that is burst: each attempt of a tenant and day has the same share of it. */
  readonly burstMs: number;
  readonly cpuMs: number;
  readonly memoryMibMs: number;
}

const KEYS: Readonly<Record<UsageBy, string>> = {
  tenant: `(select t.name from tenant t where t.tenant_id = k.tenant_id)`,
  dag: 'd.name',
  task: `k.version_no || '/' || k.task_no`,
  day: 'k.day::text',
};

/** Leans on the indexes (tenant_id, day) and (tenant_id, hour). */
const selectUsage = (by: UsageBy) =>
  statement(
    `usage_by_${by}`,
    `
  with asked as (select * from unnest($1::integer[], $2::integer[], $3::float8[]) as a (day, card_no, above_ms)),
  hours as (
    select h.tenant_id, h.hour, sum(h.slot_ms)::float8 as slot_ms from usage_hour h
     where h.hour >= $4::integer * ${HOURS_PER_DAY} and h.hour < ($5::integer + 1) * ${HOURS_PER_DAY}
       and ($6::integer is null or h.tenant_id = $6::integer)
     group by 1, 2),
  shares as (
    select h.tenant_id, a.day, a.card_no,
        case when sum(h.slot_ms) = 0 or a.above_ms < 0 then 0 else sum(greatest(0, h.slot_ms - a.above_ms)) / sum(h.slot_ms) end as burst
      from asked a join hours h on h.hour / ${HOURS_PER_DAY} = a.day group by h.tenant_id, a.day, a.card_no, a.above_ms)
  select ${KEYS[by]}, s.card_no, k.priority, sum(k.attempts), sum(k.slot_ms), sum(k.slot_ms * s.burst), sum(k.cpu_ms),
      sum(k.memory_mib_ms)
    from usage_rollup k join shares s on s.tenant_id = k.tenant_id and s.day = k.day
    left join dag d on d.shard = k.shard and d.dag_id = k.dag_id
   where k.day >= $4::integer and k.day <= $5::integer and ($6::integer is null or k.tenant_id = $6::integer)
     and ($7::text is null or d.name = $7::text)
   group by 1, 2, 3 order by 1, 2, 3`,
  );
const USAGE = {
  tenant: selectUsage('tenant'),
  dag: selectUsage('dag'),
  task: selectUsage('task'),
  day: selectUsage('day'),
} as const;

export async function readUsage(database: Database, query: UsageQuery): Promise<UsageRow[]> {
  const { days, by, tenantId, dag } = query;
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return [];
  const rows = await rowsOf(
    database,
    call(
      USAGE[by],
      plainArray(days.map(({ day }) => day)),
      plainArray(days.map(({ cardNo }) => cardNo)),
      plainArray(days.map(({ burstAboveSlots }) => (burstAboveSlots === null ? -1 : burstAboveSlots * HOUR_MS))),
      first.day,
      last.day,
      tenantId,
      dag === null ? null : encodeText(dag),
    ),
  );
  return rows.map(([key, ...numbers]) => {
    const [cardNo, priority, attempts, slotMs, burstMs, cpuMs, memoryMibMs] = numbers.map(Number);
    return {
      key: key === null || key === undefined ? null : decodeText(key),
      ...({ cardNo, priority, attempts, slotMs, burstMs, cpuMs, memoryMibMs } as Omit<UsageRow, 'key'>),
    };
  });
}

/** The names of tasks and of mapped groups, by the version of the dag. */
const selectNames = statement(
  'names_of_versions',
  `
  select v.version_no, (select json_agg(t->'name') from json_array_elements(v.spec->'tasks') t), v.spec->'groups'
    from dag d join dag_version v on v.shard = d.shard and v.dag_id = d.dag_id
   where d.tenant_id = $1::integer and d.name = $2::text and v.version_no = any($3::integer[])`,
);

export interface VersionNames {
  readonly versionNo: number;
  readonly tasks: readonly string[];
  readonly groups: readonly string[];
}

export async function readVersionNames(
  database: Database,
  {
    tenantId,
    dag,
    versions,
  }: { readonly tenantId: TenantId; readonly dag: string; readonly versions: readonly number[] },
): Promise<VersionNames[]> {
  const rows = await rowsOf(database, call(selectNames, tenantId, encodeText(dag), plainArray(versions)));
  return rows.map(([versionNo, tasks, groups]) => ({
    versionNo: Number(versionNo),
    tasks: JSON.parse(tasks ?? '[]') as string[],
    groups: ((JSON.parse(groups ?? '[]') ?? []) as readonly { readonly name: string }[]).map(({ name }) => name),
  }));
}

/** Prices from a day on, as the API made them. */
export interface StoredRateCard {
  readonly fromDay: number;
  readonly card: unknown;
  readonly setAt: number;
  readonly setBy: string;
}

const AUDIT = 'insert into audit_event (tenant_id, actor, action, target, origin, outcome, details)';
const EPOCH_MS = (column: string) => `floor(extract(epoch from ${column}) * 1000)::bigint`;
const selectCards = statement(
  'select_rate_cards',
  `select from_day, card, ${EPOCH_MS('set_at')}, set_by from rate_card order by from_day`,
);
const putCard = statement(
  'put_rate_card',
  `
  with put as (
    insert into rate_card (from_day, card, set_by) values ($1::integer, $2::json, $3::text)
    on conflict (from_day) do update set card = excluded.card, set_by = excluded.set_by, set_at = clock_timestamp() returning 1)
  ${AUDIT} select ${FIRST_TENANT}, $3::text, 'rates.set', 'rates', $4::text, 'done', $2::json from put`,
);

export async function readRateCards(database: Database): Promise<StoredRateCard[]> {
  const rows = await rowsOf(database, call(selectCards));
  return rows.map(([fromDay, card, setAt, setBy]) => ({
    fromDay: Number(fromDay),
    card: JSON.parse(card ?? 'null') as unknown,
    setAt: Number(setAt),
    setBy: decodeText(setBy ?? ''),
  }));
}

export async function setRateCard(
  database: Database,
  { fromDay, card }: { readonly fromDay: number; readonly card: object },
  { actor, origin }: ChangedBy,
): Promise<void> {
  await database.write([
    call(putCard, fromDay, encodeText(JSON.stringify(card)), encodeText(actor), encodeText(origin)),
  ]);
}

export interface StoredBudget {
  readonly tenantId: TenantId;
  readonly tenant: string;
  /** Null: of the whole tenant. */
  readonly dag: string | null;
  /** In millionths of the currency. */
  readonly amount: number;
  readonly setAt: number;
  readonly setBy: string;
}

const selectBudgets = statement(
  'select_budgets',
  `select b.tenant_id, t.name, b.dag, b.amount, ${EPOCH_MS('b.set_at')}, b.set_by
     from budget b join tenant t on t.tenant_id = b.tenant_id
    where ($1::integer is null or b.tenant_id = $1::integer) and t.state <> 'deleted' order by b.tenant_id, b.dag`,
);
const putBudget = statement(
  'put_budget',
  `
  with put as (
    insert into budget (tenant_id, dag, amount, set_by) values ($1::integer, $2::text, $3::bigint, $4::text)
    on conflict (tenant_id, dag) do update set amount = excluded.amount, set_by = excluded.set_by, set_at = clock_timestamp() returning 1)
  ${AUDIT} select $1::integer, $4::text, 'budget.set', $2::text, $5::text, 'done', json_build_object('amount', $3::bigint / 1e6) from put`,
);
const deleteBudget = statement(
  'delete_budget',
  `
  with gone as (delete from budget where tenant_id = $1::integer and dag = $2::text returning 1)
  ${AUDIT} select $1::integer, $3::text, 'budget.removed', $2::text, $4::text, 'done', '{}'::json from gone returning 1`,
);

/** Of one tenant, or of all. */
export async function readBudgets(database: Database, tenantId: TenantId | null): Promise<StoredBudget[]> {
  const rows = await rowsOf(database, call(selectBudgets, tenantId));
  return rows.map(([id, tenant, dag, amount, setAt, setBy]) => ({
    tenantId: Number(id) as TenantId,
    tenant: decodeText(tenant ?? ''),
    dag: dag === '' ? null : decodeText(dag ?? ''),
    amount: Number(amount),
    setAt: Number(setAt),
    setBy: decodeText(setBy ?? ''),
  }));
}

export interface BudgetKey {
  readonly tenantId: TenantId;
  readonly dag: string | null;
}

export async function setBudget(
  database: Database,
  { tenantId, dag, amount }: BudgetKey & { readonly amount: number },
  { actor, origin }: ChangedBy,
): Promise<void> {
  await database.write([
    call(putBudget, tenantId, encodeText(dag ?? ''), amount, encodeText(actor), encodeText(origin)),
  ]);
}

/** False when there was none. */
export async function removeBudget(
  database: Database,
  { tenantId, dag }: BudgetKey,
  { actor, origin }: ChangedBy,
): Promise<boolean> {
  const [found] = await database.write([
    call(deleteBudget, tenantId, encodeText(dag ?? ''), encodeText(actor), encodeText(origin)),
  ]);
  return (found?.rows.length ?? 0) > 0;
}

const ROWS_PER_STEP = 10_000;
const dropRows = (table: string, column: string) =>
  statement(
    `drop_old_${table}`,
    `
  with gone as (
    delete from ${table} where ctid = any (array (
      select ctid from ${table} where ${column} < $1::integer limit ${ROWS_PER_STEP}))
    returning 1)
  select count(*) from gone`,
  );
const dropDays = dropRows('usage_rollup', 'day');
const dropHours = dropRows('usage_hour', 'hour');

/** One step; true while there may be more. */
export async function dropOldUsage(database: Database, beforeDay: number): Promise<boolean> {
  const [days] = await rowsOf(database, call(dropDays, beforeDay));
  const [hours] = await rowsOf(database, call(dropHours, beforeDay * HOURS_PER_DAY));
  return Number(days?.[0]) === ROWS_PER_STEP || Number(hours?.[0]) === ROWS_PER_STEP;
}

async function rowsOf(database: Database, one: Call): Promise<readonly Row[]> {
  const [found] = await database.run([one]);
  return found?.rows ?? [];
}
