/** One-time codes that open a browser session. Only their hash is stored, and using a code deletes it (I67). */
import type { TenantId } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { encodeText } from '../text.ts';

export interface NewLoginCode {
  readonly tenantId: TenantId;
  readonly sha256: Buffer;
  readonly role: string;
  /** Who created it, and so who owns the session. */
  readonly actor: string;
  readonly validMs: number;
  /** The hash of the token that made it: link and session end with that token. */
  readonly openedBy: Buffer;
  readonly origin: string;
}

export interface NewSession {
  /** The hash of the code that is used. */
  readonly code: Buffer;
  readonly name: string;
  /** The hash of the session's own token. */
  readonly sha256: Buffer;
  readonly validMs: number;
  readonly origin: string;
}

const insertCode = statement(
  'insert_login_code',
  `
  with made as (
    insert into login_code (sha256, tenant_id, actor, role, expires_at, opened_by)
    values ($1::bytea, $2::integer, $3::text, $4::text,
      least(clock_timestamp() + $5::bigint * interval '1 millisecond',
        (select expires_at from api_token where sha256 = $6::bytea)), $6::bytea)
    on conflict do nothing returning tenant_id, actor, role, expires_at)
  insert into audit_event (tenant_id, actor, action, target, origin, outcome, details)
  select tenant_id, actor, 'login_link.create', '', $7::text, 'done',
      json_build_object('role', role, 'expiresAt', expires_at) from made`,
);
/**
 * Code, session and audit event in one. The maker's row is locked first, so a revocation comes wholly before or wholly after. Of two
 * who come with the same code one deletes the row; the other finds none. Codes of an older server have no maker.
 */
const openWithCode = statement(
  'open_session',
  `
  with code as (
    select sha256, opened_by from login_code where sha256 = $1::bytea and expires_at > clock_timestamp()),
  maker as (
    select p.expires_at, p.queues, p.slots from api_token p
     where p.sha256 = (select opened_by from code) and p.revoked_at is null
       and (p.expires_at is null or p.expires_at > clock_timestamp())
       for share),
  used as (
    delete from login_code l using code c
     where l.sha256 = c.sha256 and (c.opened_by is null or exists (select 1 from maker))
       and exists (select 1 from tenant n where n.tenant_id = l.tenant_id and n.state <> 'deleted')
    returning l.tenant_id, l.actor, l.role, l.opened_by),
  session as (
    insert into api_token (tenant_id, name, role, sha256, expires_at, created_by, opened_by, queues, slots)
    select tenant_id, $2::text, role, $3::bytea,
        least(clock_timestamp() + $4::bigint * interval '1 millisecond', (select expires_at from maker)), actor, opened_by,
        (select queues from maker), (select slots from maker)
      from used
    on conflict do nothing returning tenant_id, name, role, expires_at, created_by)
  insert into audit_event (tenant_id, actor, action, target, origin, outcome, details)
  select tenant_id, created_by, 'login', name, $5::text, 'done',
      json_build_object('role', role, 'expiresAt', expires_at) from session returning 1`,
);

export async function createLoginCode(database: Database, code: NewLoginCode): Promise<void> {
  const { sha256, tenantId, actor, role, validMs, openedBy, origin } = code;
  await database.one(
    call(insertCode, sha256, tenantId, encodeText(actor), role, validMs, openedBy, encodeText(origin)),
  );
}

/** False when there is no such code, or its maker is not valid any more. */
export async function openSession(database: Database, session: NewSession): Promise<boolean> {
  const { code, name, sha256, validMs, origin } = session;
  const opened = await database.one(call(openWithCode, code, encodeText(name), sha256, validMs, encodeText(origin)));
  return opened.rows.length > 0;
}
