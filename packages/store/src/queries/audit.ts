/** Audit events (I71): who did what, when, from where, and the outcome. What changes credentials writes its own, in the same statement. */
import type { TenantId } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { decodeText, encodeText } from '../text.ts';

/** Behind a change: who makes it, and the address that it comes from. */
export interface ChangedBy {
  readonly actor: string;
  /** Empty for the server itself. */
  readonly origin: string;
}

export interface AuditEvent {
  /** Larger for what was recorded later. */
  readonly id: number;
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly origin: string;
  readonly outcome: string;
  readonly details: unknown;
}

export interface Refusal {
  /** The hash of the presented credential; null if it can't be one. */
  readonly sha256: Buffer | null;
  readonly action: string;
  readonly origin: string;
  readonly outcome: string;
  /** How many like it came since the last that was recorded, with this one. */
  readonly count: number;
}

/** The use of a permission. */
export interface NewAuditEvent extends ChangedBy {
  readonly tenantId: TenantId;
  readonly action: string;
  readonly target: string;
  /** What it was used for. */
  readonly details: string;
}

export interface ListAudit {
  readonly before: number;
  readonly action: string | null;
  readonly limit: number;
}

/** A credential that was revoked or has expired is known by its name, and its tenant hears of it. */
const insertRefusal = statement(
  'insert_refusal',
  `
  insert into audit_event (tenant_id, actor, action, target, origin, outcome, details)
  select t.tenant_id, coalesce('token:' || t.name, ''), $2::text, coalesce(t.name, ''), $3::text, $4::text,
      json_build_object('count', $5::integer)
    from (values (1)) as one (no) left join api_token t on t.sha256 = $1::bytea`,
);
const insertUse = statement(
  'insert_use',
  `
  insert into audit_event (tenant_id, actor, action, target, origin, outcome, details)
  values ($1::integer, $2::text, $3::text, $4::text, $5::text, 'done', json_build_object('by', $6::text))`,
);
/** Events of nobody's are for the tenant that runs the server: the first one. */
const selectAudit = statement(
  'select_audit',
  `
  select audit_id, floor(extract(epoch from at) * 1000)::bigint, actor, action, target, origin, outcome, details::text
    from audit_event
   where (tenant_id = $1::integer or (tenant_id is null and $1::integer = 1))
     and audit_id < $2::bigint and ($3::text is null or action = $3::text)
   order by audit_id desc limit $4::integer`,
);
const deleteOld = statement(
  'delete_old_audit',
  `
  delete from audit_event where audit_id = any (array (
    select audit_id from audit_event where at < clock_timestamp() - interval '400 days' order by audit_id limit 1000))`,
);

export async function recordRefusal(database: Database, refusal: Refusal): Promise<void> {
  const { sha256, action, origin, outcome, count } = refusal;
  await database.one(call(insertRefusal, sha256, action, encodeText(origin), outcome, count));
}

export async function listAudit(
  database: Database,
  tenantId: TenantId,
  { before, action, limit }: ListAudit,
): Promise<AuditEvent[]> {
  const { rows } = await database.one(call(selectAudit, tenantId, before, action, limit));
  return rows.map(([id, at, actor, what, target, origin, outcome, details]) => ({
    id: Number(id),
    at: Number(at),
    actor: decodeText(actor ?? ''),
    action: what ?? '',
    target: decodeText(target ?? ''),
    origin: decodeText(origin ?? ''),
    outcome: outcome ?? '',
    details: JSON.parse(details ?? 'null') as unknown,
  }));
}

/** They are kept for 400 days: a year and the time to look back at it. */
export async function dropOldAudit(database: Database): Promise<void> {
  await database.one(call(deleteOld));
}

export async function recordUse(database: Database, event: NewAuditEvent): Promise<void> {
  const { tenantId, actor, action, target, origin, details } = event;
  const texts = [encodeText(actor), action, encodeText(target), encodeText(origin), details] as const;
  await database.write([call(insertUse, tenantId, ...texts)]);
}
