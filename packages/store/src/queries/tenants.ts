/** Tenants: who they are, and what scheduling must know of them. Each change leaves an audit event of the first tenant (I71). */
import { type RunId, shardOfRun, type TenantId } from '@signalbox/engine';
import { priorities } from '../codes.ts';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { decodeText, encodeText } from '../text.ts';
import type { ChangedBy } from './audit.ts';

export const TENANT_STATES = ['active', 'suspended', 'deleted'] as const;
type TenantState = (typeof TENANT_STATES)[number];

export interface StoredTenant {
  readonly tenantId: TenantId;
  readonly name: string;
  readonly state: TenantState;
  readonly weight: number;
  /** Number of the priority; null: normal. */
  readonly defaultPriority: number | null;
  readonly critical: boolean;
  readonly reason: string | null;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly changedAt: number;
}

export interface TenantSettings {
  readonly weight?: number;
  readonly defaultPriority?: number | null;
  readonly critical?: boolean;
}

export interface TenantChange extends TenantSettings {
  readonly state?: TenantState;
  readonly reason?: string | null;
}

/** What the scheduler is told. */
export interface TenantRule {
  readonly tenantId: TenantId;
  readonly weight: number;
  readonly isSuspended: boolean;
  /** Suspended, and its schedules create no runs. */
  readonly isDeleted?: boolean;
}

const COLUMNS = `tenant_id, name, state, weight, default_priority, critical, reason,
  floor(extract(epoch from created_at) * 1000)::bigint, created_by, floor(extract(epoch from changed_at) * 1000)::bigint`;

const selectTenants = statement(
  'select_tenants',
  `select ${COLUMNS} from tenant
    where ($1::boolean or state <> 'deleted') and name > $2::text order by name limit $3::integer`,
);
const selectTenantNamed = statement('select_tenant_named', `select ${COLUMNS} from tenant where name = $1::text`);
/** Who uses more than a quota should allow has a tenth of its weight until then. */
const selectRules = statement(
  'select_tenant_rules',
  `select t.tenant_id,
      t.weight * case when exists (select 1 from quota q where q.tenant_id = t.tenant_id and q.level > 0) then 0.1 else 1 end,
      t.state from tenant t`,
);
/** Numbers are given one after the other: two who create tenants at the same moment would both take the next one. */
const lockNumbers = statement(
  'lock_tenant_numbers',
  "select pg_advisory_xact_lock(hashtext('signalbox tenant numbers'))",
);
const insertNewTenant = statement(
  'insert_new_tenant',
  `
  with made as (
    insert into tenant (tenant_id, name, weight, default_priority, critical, created_by)
    select coalesce(max(tenant_id), 0) + 1, $1::text, $2::float8, $3::smallint, $4::boolean, $5::text from tenant
    on conflict do nothing returning name)
  insert into audit_event (tenant_id, actor, action, target, origin, outcome, details)
  select 1, $5::text, 'tenant.create', name, $6::text, 'done',
      $7::json from made
  returning 1`,
);
/** The first tenant runs the installation: it is neither suspended nor deleted. */
const updateTenant = statement(
  'update_tenant',
  `
  with changed as (
    update tenant set state = coalesce($2::text, state), weight = coalesce($3::float8, weight),
        default_priority = case when $4::boolean then $5::smallint else default_priority end,
        critical = coalesce($6::boolean, critical),
        reason = case when $2::text is null then reason else $7::text end, changed_at = clock_timestamp()
     where name = $1::text and ($2::text is null or $2::text = 'active' or tenant_id <> 1)
       and ($2::text is distinct from 'suspended' or state <> 'deleted') returning name)
  insert into audit_event (tenant_id, actor, action, target, origin, outcome, details)
  select 1, $8::text, $10::text, name, $9::text, 'done',
      $11::json from changed
  returning 1`,
);

const selectTenantOfRun = statement(
  'select_tenant_of_run',
  'select tenant_id from run where shard = $1::smallint and run_id = $2::bigint',
);

export async function tenantOfRun(database: Database, runId: RunId): Promise<TenantId | null> {
  const [row] = (await database.one(call(selectTenantOfRun, shardOfRun(runId), runId))).rows;
  return row === undefined ? null : (Number(row[0]) as TenantId);
}

export async function listTenants(
  database: Database,
  list: { readonly after: string; readonly limit: number; readonly withDeleted: boolean },
): Promise<StoredTenant[]> {
  const { rows } = await database.one(call(selectTenants, list.withDeleted, encodeText(list.after), list.limit));
  return rows.map(tenantOf);
}

export async function findTenant(database: Database, name: string): Promise<StoredTenant | null> {
  const [row] = (await database.one(call(selectTenantNamed, encodeText(name)))).rows;
  return row === undefined ? null : tenantOf(row);
}

export async function readTenantRules(database: Database): Promise<TenantRule[]> {
  const { rows } = await database.one(call(selectRules));
  return rows.map(([tenantId, weight, state]) => ({
    tenantId: Number(tenantId) as TenantId,
    weight: Number(weight),
    isSuspended: state !== 'active',
    ...(state === 'deleted' && { isDeleted: true }),
  }));
}

/** False when the name is taken, also by a tenant that was deleted. */
export async function createTenant(
  database: Database,
  { name, weight = 1, defaultPriority = null, critical = false }: TenantSettings & { readonly name: string },
  { actor, origin }: ChangedBy,
): Promise<boolean> {
  const by = [encodeText(actor), encodeText(origin)] as const;
  const details = detailsOf({ weight, defaultPriority, critical });
  const insert = call(insertNewTenant, encodeText(name), weight, defaultPriority, critical, ...by, details);
  const [, made] = await database.write([call(lockNumbers), insert]);
  return (made?.rows.length ?? 0) > 0;
}

/** False when there is no such tenant, or the first one would be suspended or deleted, or a deleted one suspended. */
export async function changeTenant(
  database: Database,
  name: string,
  change: TenantChange & { readonly action: string },
  { actor, origin }: ChangedBy,
): Promise<boolean> {
  const { state = null, weight = null, defaultPriority, critical = null, reason = null, action } = change;
  const update = call(
    updateTenant,
    encodeText(name),
    state,
    weight,
    defaultPriority !== undefined,
    defaultPriority ?? null,
    critical,
    reason === null ? null : encodeText(reason),
    encodeText(actor),
    encodeText(origin),
    action,
    detailsOf(change),
  );
  const [changed] = await database.write([update]);
  return (changed?.rows.length ?? 0) > 0;
}

/** What an audit event tells of a change: all that was given (I71). */
function detailsOf({ state, weight, defaultPriority, critical, reason }: TenantChange): string {
  const priority = defaultPriority == null ? 'normal' : priorities.word(defaultPriority);
  return JSON.stringify({
    ...(state === undefined ? {} : { state }),
    ...(weight === undefined ? {} : { weight }),
    ...(defaultPriority === undefined ? {} : { defaultPriority: priority }),
    ...(critical === undefined ? {} : { critical }),
    ...(reason == null ? {} : { reason: encodeText(reason) }),
  });
}

function tenantOf(row: readonly (string | null)[]): StoredTenant {
  const [tenantId, name, state, weight, defaultPriority, critical, reason, createdAt, createdBy, changedAt] = row;
  return {
    tenantId: Number(tenantId) as TenantId,
    name: decodeText(name ?? ''),
    state: state as TenantState,
    weight: Number(weight),
    defaultPriority: defaultPriority === null || defaultPriority === undefined ? null : Number(defaultPriority),
    critical: critical === 't',
    reason: reason === null || reason === undefined ? null : decodeText(reason),
    createdAt: Number(createdAt),
    createdBy: decodeText(createdBy ?? ''),
    changedAt: Number(changedAt),
  };
}
