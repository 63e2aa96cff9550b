/** One-time codes that open a browser's session. Only their hash is kept; who uses one takes it away with it (I67). */
import type { TenantId } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { decodeText, encodeText } from '../text.ts';

export interface NewLoginCode {
  readonly tenantId: TenantId;
  readonly sha256: Buffer;
  readonly role: string;
  /** Who made it, and so who is behind the session. */
  readonly actor: string;
  readonly validMs: number;
}

export interface LoginCode {
  readonly tenantId: TenantId;
  readonly role: string;
  readonly actor: string;
}

const insertCode = statement(
  'insert_login_code',
  `
  insert into login_code (sha256, tenant_id, actor, role, expires_at)
  values ($1::bytea, $2::integer, $3::text, $4::text, clock_timestamp() + $5::bigint * interval '1 millisecond')
  on conflict do nothing`,
);
/** Of two who come with the same code one deletes the row; the other finds none. */
const takeCode = statement(
  'take_login_code',
  `
  delete from login_code where sha256 = $1::bytea and expires_at > clock_timestamp()
  returning tenant_id, actor, role`,
);

export async function createLoginCode(database: Database, code: NewLoginCode): Promise<void> {
  const { sha256, tenantId, actor, role, validMs } = code;
  await database.one(call(insertCode, sha256, tenantId, encodeText(actor), role, validMs));
}

export async function takeLoginCode(database: Database, sha256: Buffer): Promise<LoginCode | null> {
  const [row] = (await database.one(call(takeCode, sha256))).rows;
  if (row === undefined) return null;
  return { tenantId: Number(row[0]) as TenantId, actor: decodeText(row[1] ?? ''), role: row[2] ?? '' };
}
