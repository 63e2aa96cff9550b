/** Webhooks: addresses that outside systems call. Each change writes its audit event in the same statement (I71). */
import type { TenantId } from '@signalbox/engine';
import type { Row } from '../batch.ts';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { decodeText, encodeText } from '../text.ts';
import type { ChangedBy } from './audit.ts';

/** What a secret follows from. */
export interface SecretRef {
  readonly generation: number;
  /** The secret itself, sealed; null where it follows from the cluster's key. */
  readonly sealed: Buffer | null;
}

export interface StoredWebhook extends SecretRef {
  readonly id: string;
  readonly tenantId: TenantId;
  readonly tenant: string;
  readonly dag: string;
  readonly scheme: string;
  /** Still valid after a rotation. */
  readonly previous: SecretRef | null;
  readonly createdAt: number;
  readonly createdBy: string;
}

export interface NewWebhook {
  readonly id: string;
  readonly tenantId: TenantId;
  readonly dag: string;
  readonly scheme: string;
  readonly sealed: Buffer | null;
}

const COLUMNS = `w.webhook_id, w.tenant_id, n.name, w.dag, w.scheme, w.generation, w.sealed,
    case when w.previous_until > clock_timestamp() then w.previous_generation end, w.previous_sealed,
    floor(extract(epoch from w.created_at) * 1000)::bigint, w.created_by`;

const insertWebhook = statement(
  'insert_webhook',
  `
  with made as (
    insert into webhook (webhook_id, tenant_id, dag, scheme, sealed, created_by)
    values ($1::uuid, $2::integer, $3::text, $4::text, $5::bytea, $6::text)
    on conflict do nothing returning *)
  insert into audit_event (tenant_id, actor, action, target, origin, outcome, details)
  select tenant_id, created_by, 'webhook.create', webhook_id::text, $7::text, 'done',
      json_build_object('dag', dag, 'scheme', scheme) from made returning 1`,
);

/** By primary key. */
const selectWebhook = statement(
  'select_webhook',
  `select ${COLUMNS} from webhook w join tenant n on n.tenant_id = w.tenant_id where w.webhook_id = $1::uuid`,
);

/** Leans on the index `webhook_of_tenant`. */
const selectWebhooks = statement(
  'select_webhooks',
  `
  select ${COLUMNS} from webhook w join tenant n on n.tenant_id = w.tenant_id
   where w.tenant_id = $1::integer order by w.dag, w.webhook_id limit 1000`,
);

const deleteRow = statement(
  'delete_webhook',
  `
  with gone as (delete from webhook where webhook_id = $1::uuid and tenant_id = $2::integer returning *)
  insert into audit_event (tenant_id, actor, action, target, origin, outcome, details)
  select tenant_id, $3::text, 'webhook.delete', webhook_id::text, $4::text, 'done', json_build_object('dag', dag)
    from gone returning 1`,
);

const rotateSecret = statement(
  'rotate_webhook',
  `
  with turned as (
    update webhook set generation = generation + 1, sealed = $3::bytea, previous_generation = generation,
        previous_sealed = sealed, previous_until = clock_timestamp() + $4::bigint * interval '1 millisecond'
     where webhook_id = $1::uuid and tenant_id = $2::integer returning *)
  insert into audit_event (tenant_id, actor, action, target, origin, outcome, details)
  select tenant_id, $5::text, 'webhook.rotate', webhook_id::text, $6::text, 'done',
      json_build_object('dag', dag, 'generation', generation) from turned returning 1`,
);

export async function createWebhook(database: Database, webhook: NewWebhook, by: ChangedBy): Promise<void> {
  const { id, tenantId, dag, scheme, sealed } = webhook;
  const values = [id, tenantId, encodeText(dag), scheme, bytes(sealed)] as const;
  await database.write([call(insertWebhook, ...values, encodeText(by.actor), encodeText(by.origin))]);
}

export async function findWebhook(database: Database, id: string): Promise<StoredWebhook | null> {
  const { rows } = await database.one(call(selectWebhook, id));
  return rows[0] === undefined ? null : parse(rows[0]);
}

export async function listWebhooks(database: Database, tenantId: TenantId): Promise<StoredWebhook[]> {
  const { rows } = await database.one(call(selectWebhooks, tenantId));
  return rows.map(parse);
}

/** False when the tenant has none with this id; so does `rotateWebhook`. */
export async function deleteWebhook(
  database: Database,
  { id, tenantId }: Pick<NewWebhook, 'id' | 'tenantId'>,
  by: ChangedBy,
): Promise<boolean> {
  const [gone] = await database.write([call(deleteRow, id, tenantId, encodeText(by.actor), encodeText(by.origin))]);
  return (gone?.rows.length ?? 0) > 0;
}

export async function rotateWebhook(
  database: Database,
  { id, tenantId, sealed, keepMs }: Pick<NewWebhook, 'id' | 'tenantId' | 'sealed'> & { readonly keepMs: number },
  by: ChangedBy,
): Promise<boolean> {
  const values = [id, tenantId, bytes(sealed), keepMs] as const;
  const [turned] = await database.write([call(rotateSecret, ...values, encodeText(by.actor), encodeText(by.origin))]);
  return (turned?.rows.length ?? 0) > 0;
}

const bytes = (value: Buffer | null): string | null => (value === null ? null : `\\x${value.toString('hex')}`);
const parseBytes = (text: string | null | undefined): Buffer | null =>
  text === null || text === undefined ? null : Buffer.from(text.slice(2), 'hex');

function parse(row: Row): StoredWebhook {
  const [id, tenantId, tenant, dag, scheme, generation, sealed, previousGeneration, previousSealed] = row;
  const hasPrevious = previousGeneration !== null && previousGeneration !== undefined;
  return {
    id: id ?? '',
    tenantId: Number(tenantId) as TenantId,
    tenant: decodeText(tenant ?? ''),
    dag: decodeText(dag ?? ''),
    scheme: scheme ?? '',
    generation: Number(generation),
    sealed: parseBytes(sealed),
    previous: hasPrevious ? { generation: Number(previousGeneration), sealed: parseBytes(previousSealed) } : null,
    createdAt: Number(row[9]),
    createdBy: decodeText(row[10] ?? ''),
  };
}
