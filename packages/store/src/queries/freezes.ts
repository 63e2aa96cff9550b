/** What is frozen: nothing of it starts until it is thawed. Each change leaves an audit event (I71). */
import type { DagId, HaltCause, ShardNo, TenantId } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { decodeNullableText, decodeText, encodeText } from '../text.ts';
import type { ChangedBy } from './audit.ts';

/** It runs the installation. */
const FIRST_TENANT = 1;

export const FREEZE_KINDS = ['cluster', 'tenant', 'queue', 'dag', 'worker'] as const;
export type FreezeKind = (typeof FREEZE_KINDS)[number];

export interface Frozen {
  /** Of the cluster: the tenant that runs the installation. */
  readonly tenantId: TenantId;
  readonly kind: FreezeKind;
  /** Empty for the cluster and for a tenant. */
  readonly name: string;
}

export interface StoredFreeze extends Frozen {
  readonly tenant: string;
  readonly reason: string | null;
  readonly frozenAt: number;
  readonly frozenBy: string;
}

const selectFrozen = statement(
  'select_frozen',
  'select tenant_id, kind, name from frozen_target order by tenant_id, kind, name',
);
const COLUMNS = `
  select f.tenant_id, f.kind, f.name, coalesce(t.name, ''), f.reason,
      floor(extract(epoch from f.frozen_at) * 1000)::bigint, f.frozen_by
    from frozen_target f left join tenant t on t.tenant_id = f.tenant_id`;
/** The cluster is everybody's. */
const selectFreezes = statement(
  'select_freezes',
  `${COLUMNS} where f.tenant_id = $1::integer or f.kind = 'cluster' or $2::boolean and f.kind = 'tenant'
    order by f.kind, f.name, f.tenant_id`,
);
/** Halted dags: no person froze them. */
const selectHalts = statement(
  'select_halts',
  `select h.shard, h.dag_id, d.name, h.cause, h.tasks, h.most, h.halted_at
    from halted_dag h join dag d on d.shard = h.shard and d.dag_id = h.dag_id
    where h.tenant_id = $1::integer order by d.name`,
);
const AUDIT = 'insert into audit_event (tenant_id, actor, action, target, origin, outcome, details)';
/**
 * What is frozen stays so: who did it first, and why, is kept. Only the tenant that runs the installation takes the place of another
 * (`$8` is it, and `$7` who asks), so that the other can not thaw it.
 */
const insertFreeze = statement(
  'insert_freeze',
  `
  with made as (
    insert into frozen_target as f (tenant_id, kind, name, reason, frozen_by, by_tenant_id)
    values ($1::integer, $2::text, $3::text, $4::text, $5::text, $7::integer)
    on conflict (tenant_id, kind, name) do update
      set reason = excluded.reason, frozen_by = excluded.frozen_by, by_tenant_id = excluded.by_tenant_id,
        frozen_at = excluded.frozen_at
      where f.by_tenant_id <> excluded.by_tenant_id and excluded.by_tenant_id = $8::integer
    returning 1)
  ${AUDIT} select $7::integer, $5::text, 'freeze.set', $6::text, $9::text, 'done', $10::json from made returning 1`,
);
const deleteFreeze = statement(
  'delete_freeze',
  `
  with gone as (
    delete from frozen_target where tenant_id = $1::integer and kind = $2::text and name = $3::text
       and ($6::integer = by_tenant_id or $6::integer = $7::integer) returning 1)
  ${AUDIT} select $6::integer, $4::text, 'freeze.removed', $5::text, $8::text, 'done', '{}'::json from gone returning 1`,
);

/** A dag that created too much, and was halted for that. */
export interface StoredHaltView {
  readonly shard: ShardNo;
  readonly dagId: DagId;
  readonly name: string;
  readonly cause: HaltCause;
  readonly tasks: number;
  readonly most: number;
  readonly haltedAt: number;
}

export async function listHalts(database: Database, tenantId: TenantId): Promise<StoredHaltView[]> {
  const { rows } = await database.one(call(selectHalts, tenantId));
  return rows.map(([shard, dagId, name, cause, tasks, most, haltedAt]) => ({
    shard: Number(shard) as ShardNo,
    dagId: Number(dagId) as DagId,
    name: decodeText(name ?? ''),
    cause: decodeText(cause ?? '') as HaltCause,
    tasks: Number(tasks),
    most: Number(most),
    haltedAt: Number(haltedAt),
  }));
}

export async function readFrozen(database: Database): Promise<Frozen[]> {
  const { rows } = await database.one(call(selectFrozen));
  return rows.map(([tenantId, kind, name]) => ({
    tenantId: Number(tenantId) as TenantId,
    kind: kind as FreezeKind,
    name: decodeText(name ?? ''),
  }));
}

/** Those of a tenant and of the cluster; for the one that runs the installation also those of all tenants. */
export async function listFreezes(
  database: Database,
  { tenantId, isOfInstallation }: { readonly tenantId: TenantId; readonly isOfInstallation: boolean },
): Promise<StoredFreeze[]> {
  const { rows } = await database.one(call(selectFreezes, tenantId, isOfInstallation));
  return rows.map(([ofTenant, kind, name, tenant, reason, frozenAt, frozenBy]) => ({
    tenantId: Number(ofTenant) as TenantId,
    kind: kind as FreezeKind,
    name: decodeText(name ?? ''),
    tenant: decodeText(tenant ?? ''),
    reason: decodeNullableText(reason ?? null),
    frozenAt: Number(frozenAt),
    frozenBy: decodeText(frozenBy ?? ''),
  }));
}

/** Who freezes or thaws it. Audit events are of the tenant of that one: another reads nothing of it (I65). */
export interface FreezeChange extends ChangedBy {
  readonly byTenantId: TenantId;
  /** As people write it, for the audit. */
  readonly target: string;
}

export async function setFreeze(
  database: Database,
  { tenantId, kind, name }: Frozen,
  { reason, target, actor, origin, byTenantId }: FreezeChange & { readonly reason: string | null },
): Promise<void> {
  const why = reason === null ? null : encodeText(reason);
  const details = JSON.stringify(why === null ? {} : { reason: why });
  const what = [tenantId, kind, encodeText(name), why] as const;
  const by = [encodeText(actor), encodeText(target), byTenantId, FIRST_TENANT, encodeText(origin)] as const;
  await database.write([call(insertFreeze, ...what, ...by, details)]);
}

/** False when it was not frozen, or by another tenant. The first tenant thaws what any of them froze. */
export async function removeFreeze(
  database: Database,
  { tenantId, kind, name }: Frozen,
  { target, actor, origin, byTenantId }: FreezeChange,
): Promise<boolean> {
  const by = [encodeText(actor), encodeText(target), byTenantId, FIRST_TENANT, encodeText(origin)] as const;
  const [gone] = await database.write([call(deleteFreeze, tenantId, kind, encodeText(name), ...by)]);
  return (gone?.rows.length ?? 0) > 0;
}
