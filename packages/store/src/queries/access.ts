/** The cluster's own data, tenants and tokens: small tables, read by key. */
import type { TenantId } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { decodeText, encodeText } from '../text.ts';
import type { ChangedBy } from './audit.ts';

export interface Cluster {
  /** New after a restore: tokens of another one are refused (I64). */
  readonly incarnation: string;
  readonly tokenKey: Buffer;
  readonly shardCount: number;
}

/** What workers with a token may take; null where nothing was said. */
export interface WorkerLimits {
  readonly queues: readonly string[] | null;
  /** Slots of all its workers at one server. */
  readonly slots: number | null;
  /** Whom they serve. Null: the tenant of the token alone. Empty: every tenant. */
  readonly serves: readonly TenantId[] | null;
}

export interface ApiToken extends WorkerLimits {
  readonly tenantId: TenantId;
  readonly tenant: string;
  /** Its tenant reads, and starts nothing. */
  readonly isSuspended: boolean;
  /** Its tenant may use the priority critical. */
  readonly mayBeCritical: boolean;
  /** Number of the priority of dags that are deployed without one; null: normal. */
  readonly defaultPriority: number | null;
  readonly name: string;
  readonly role: string;
  /** How long it is still valid; null: no limit. */
  readonly leftMs: number | null;
}

export interface NewApiToken extends Partial<WorkerLimits> {
  readonly tenantId: TenantId;
  readonly name: string;
  readonly role: string;
  /** The hash of the token; its text is never stored (I67). */
  readonly sha256: Buffer;
  /** From now. Without it: no limit. */
  readonly validMs?: number | null;
  readonly createdBy?: string;
  /** The address that it is made from; empty for the server itself. */
  readonly origin?: string;
}

export interface ListedToken extends WorkerLimits {
  readonly name: string;
  readonly role: string;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

/** A token is known by the hash of its text, or by its name. */
export interface FoundToken {
  readonly sha256: Buffer;
  readonly role: string;
  readonly expiresAt: number | null;
}

const MILLISECONDS = (column: string) => `floor(extract(epoch from ${column}) * 1000)::bigint`;
/** Names of queues have no comma. */
const SERVES = "array_to_string(serves, ',')";
const QUEUES = "array_to_string(queues, ',')";
const selectCluster = statement('select_cluster', 'select incarnation, token_key, shard_count from cluster');
const selectToken = statement(
  'select_token',
  `
  select t.tenant_id, n.name, t.name, t.role,
      ceil(extract(epoch from t.expires_at - clock_timestamp()) * 1000)::bigint, ${QUEUES}, t.slots, ${SERVES},
      n.state, n.critical, n.default_priority
    from api_token t join tenant n on n.tenant_id = t.tenant_id
   where t.sha256 = $1::bytea and n.state <> 'deleted' and t.revoked_at is null and (t.expires_at is null or t.expires_at > clock_timestamp())`,
);
const insertToken = statement(
  'insert_token',
  `
  with made as (
    insert into api_token (tenant_id, name, role, sha256, expires_at, created_by, queues, slots, serves)
    values ($1::integer, $2::text, $3::text, $4::bytea,
      clock_timestamp() + $5::bigint * interval '1 millisecond', $6::text, string_to_array($7::text, ','), $8::integer,
      string_to_array($10::text, ',')::integer[])
    on conflict do nothing returning tenant_id, name, role, expires_at, created_by, queues, slots, serves)
  insert into audit_event (tenant_id, actor, action, target, origin, outcome, details)
  select tenant_id, coalesce(nullif(created_by, ''), 'server'), 'token.create', name, $9::text, 'done',
      json_build_object('role', role, 'expiresAt', expires_at, 'queues', queues, 'slots', slots,
        'serves', (select json_agg(coalesce(n.name, '*')) from unnest(case serves when '{}' then '{0}' else serves end) s (id)
                     left join tenant n on n.tenant_id = s.id)) from made returning 1`,
);
/** Leans on the index `api_token_name`. One that has expired may still hold its name; it is let go for the new one. */
const freeExpiredName = statement(
  'free_expired_name',
  `
  update api_token set revoked_at = expires_at
   where tenant_id = $1::integer and name = $2::text and revoked_at is null and expires_at <= clock_timestamp()`,
);
const setRevoked = statement(
  'revoke_token',
  `
  with gone as (
    update api_token set revoked_at = clock_timestamp()
     where tenant_id = $1::integer and name = $2::text and revoked_at is null returning tenant_id, name, role)
  insert into audit_event (tenant_id, actor, action, target, origin, outcome, details)
  select tenant_id, $3::text, 'token.revoke', name, $4::text, 'done', json_build_object('role', role) from gone
  returning 1`,
);
/**
 * Links that a revoked token has made, sessions that they opened, and what those made in turn. A statement of its own, after the
 * token is revoked: it sees the sessions that were opened until then, and none is opened afterwards (see `open_session`).
 */
const endOpened = statement(
  'end_opened_sessions',
  `
  with recursive tree as (
    select sha256 from api_token where tenant_id = $1::integer and name = $2::text and revoked_at is not null
    union
    select s.sha256 from api_token s join tree t on s.opened_by = t.sha256),
  links as (delete from login_code where opened_by in (select sha256 from tree)),
  ended as (
    update api_token set revoked_at = clock_timestamp()
     where sha256 in (select sha256 from tree) and revoked_at is null returning tenant_id, name, role)
  insert into audit_event (tenant_id, actor, action, target, origin, outcome, details)
  select tenant_id, $3::text, 'session.end', name, $4::text, 'done', json_build_object('role', role, 'token', $2::text)
    from ended`,
);
const selectTokens = statement(
  'select_tokens',
  `
  select name, role, ${MILLISECONDS('created_at')}, ${MILLISECONDS('revoked_at')}, ${MILLISECONDS('expires_at')}, created_by,
      ${QUEUES}, slots, ${SERVES}
    from api_token where tenant_id = $1::integer order by created_at desc, name limit 1000`,
);
const selectNamed = statement(
  'select_token_by_name',
  `
  select sha256, role, ${MILLISECONDS('expires_at')} from api_token
   where tenant_id = $1::integer and name = $2::text and revoked_at is null`,
);
const selectTenant = statement('select_tenant', 'select tenant_id from tenant where name = $1::text');
const insertTenant = statement(
  'insert_tenant',
  `
  insert into tenant (tenant_id, name) select coalesce(max(tenant_id), 0) + 1, $1::text from tenant
  on conflict (name) do nothing`,
);

export async function readCluster(database: Database): Promise<Cluster> {
  const [row] = (await database.one(call(selectCluster))).rows;
  if (row === undefined) throw new Error('The table cluster is empty: the database was not restored whole.');
  return {
    incarnation: row[0] ?? '',
    tokenKey: Buffer.from((row[1] ?? '').slice(2), 'hex'),
    shardCount: Number(row[2]),
  };
}

/** By the primary key, on a hash: how long it takes tells nothing of the token. */
export async function findToken(database: Database, sha256: Buffer): Promise<ApiToken | null> {
  const [row] = (await database.one(call(selectToken, sha256))).rows;
  if (row === undefined) return null;
  const [tenantId, tenant, name, role, leftMs, queues, slots, serves, state, critical, defaultPriority] = row;
  return {
    tenantId: Number(tenantId) as TenantId,
    tenant: decodeText(tenant ?? ''),
    name: decodeText(name ?? ''),
    role: role ?? '',
    leftMs: nullableNumber(leftMs),
    isSuspended: state !== 'active',
    mayBeCritical: critical === 't',
    defaultPriority: nullableNumber(defaultPriority),
    ...limitsOf(queues, slots, serves),
  };
}

/** False when the tenant has a valid token of that name already, or the same token was stored before. */
export async function createToken(database: Database, token: NewApiToken): Promise<boolean> {
  const [tenantId, name] = [token.tenantId, encodeText(token.name)];
  const [validMs, createdBy] = [token.validMs ?? null, encodeText(token.createdBy ?? '')];
  const [queues, slots] = [token.queues?.join(',') ?? null, token.slots ?? null];
  const origin = encodeText(token.origin ?? '');
  const serves = token.serves?.join(',') ?? null;
  const values = [tenantId, name, token.role, token.sha256, validMs, createdBy, queues, slots, origin, serves] as const;
  const insert = call(insertToken, ...values);
  const [, made] = await database.write([call(freeExpiredName, tenantId, name), insert]);
  return (made?.rows.length ?? 0) > 0;
}

/** The tenant's valid token of that name. */
export async function findTokenByName(
  database: Database,
  tenantId: TenantId,
  name: string,
): Promise<FoundToken | null> {
  const [row] = (await database.one(call(selectNamed, tenantId, encodeText(name)))).rows;
  if (row === undefined) return null;
  const [sha256, role, expiresAt] = row;
  return {
    sha256: Buffer.from((sha256 ?? '').slice(2), 'hex'),
    role: role ?? '',
    expiresAt: nullableNumber(expiresAt),
  };
}

/** With the sessions that it opened, and the links it made. False when the tenant has no valid token of that name. */
export async function revokeToken(
  database: Database,
  tenantId: TenantId,
  name: string,
  { actor, origin }: ChangedBy,
): Promise<boolean> {
  const values = [tenantId, encodeText(name), encodeText(actor), encodeText(origin)] as const;
  // Twice: a session that a session is opening waits for the first, and is seen by the second.
  const end = call(endOpened, ...values);
  const [revoked] = await database.write([call(setRevoked, ...values), end, end]);
  return (revoked?.rows.length ?? 0) > 0;
}

export async function listTokens(database: Database, tenantId: TenantId): Promise<ListedToken[]> {
  const { rows } = await database.one(call(selectTokens, tenantId));
  return rows.map(([name, role, createdAt, revokedAt, expiresAt, createdBy, queues, slots, serves]) => ({
    name: decodeText(name ?? ''),
    role: role ?? '',
    createdAt: Number(createdAt),
    createdBy: decodeText(createdBy ?? ''),
    expiresAt: nullableNumber(expiresAt),
    revokedAt: nullableNumber(revokedAt),
    ...limitsOf(queues, slots, serves),
  }));
}

type Cell = string | null | undefined;

function limitsOf(queues: Cell, slots: Cell, serves: Cell): WorkerLimits {
  const ids = serves === null || serves === undefined ? null : serves.split(',').filter(Boolean);
  return {
    queues: queues === null || queues === undefined ? null : queues.split(','),
    slots: nullableNumber(slots),
    serves: ids === null ? null : ids.map((id) => Number(id) as TenantId),
  };
}

function nullableNumber(value: string | null | undefined): number | null {
  return value === null || value === undefined ? null : Number(value);
}

/** The tenant of that name, made if it is not there. Two who make one at the same moment: one of them may have to ask again. */
export async function ensureTenant(database: Database, name: string): Promise<TenantId> {
  const [, found] = await database.run([call(insertTenant, encodeText(name)), call(selectTenant, encodeText(name))]);
  return Number(found?.rows[0]?.[0]) as TenantId;
}
