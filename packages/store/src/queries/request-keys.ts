/**
 * Idempotency keys of changes for which the engine keeps no keys (I11). A row is *begun* before the change is made and gets
 * its answer afterwards. A row without an answer is in progress or was interrupted. When it is older than any request can
 * be, or was released, the next request with the same key takes it over and makes the change again. These changes can be
 * made twice without harm.
 */
import type { TenantId } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { call, statement, type Value } from '../statement.ts';
import { encodeText } from '../text.ts';

export interface RequestKey {
  readonly tenantId: TenantId;
  readonly operation: string;
  readonly target: string;
  readonly key: string;
}

export type BegunRequest =
  /** It is the caller's to make the change. */
  /** `again`: it may have been made before, by a request that was cut off. */
  /** `partly`: what a request that made some of it has told. */
  | { readonly state: 'begun'; readonly again: boolean; readonly partly?: unknown }
  | { readonly state: 'under_way' }
  | { readonly state: 'conflict' }
  | { readonly state: 'answered'; readonly status: number; readonly answer: unknown };

const KEY = 'tenant_id = $1::integer and operation = $2::text and target = $3::text and key = $4::text';

/** Inserts a row, or takes over one that was interrupted. The second statement sees the row in both cases. */
const beginKey = statement(
  'begin_request_key',
  `
  insert into request_key as k (tenant_id, operation, target, key, body_hash)
  values ($1::integer, $2::text, $3::text, $4::text, $5::text)
  on conflict (tenant_id, operation, target, key) do update set at = clock_timestamp()
    where k.body_hash = excluded.body_hash and k.status is null
      and k.at < clock_timestamp() - $6::bigint * interval '1 millisecond'
  returning k.xmax <> 0, k.answer::text`,
);
const selectKey = statement(
  'select_request_key',
  `select body_hash, status, answer::text from request_key where ${KEY}`,
);
const answerKey = statement(
  'answer_request_key',
  `update request_key set status = $5::smallint, answer = $6::json where ${KEY} and status is null`,
);
/** Older than any request: the next one with the same body may make the change at once. Not so old that it is dropped. */
const releaseKey = statement(
  'release_request_key',
  `update request_key set at = clock_timestamp() - interval '1 hour', answer = coalesce($5::json, answer)
    where ${KEY} and status is null`,
);
const forgetKey = statement('forget_request_key', `delete from request_key where ${KEY} and status is null`);

const KEYS_PER_STEP = 1_000;
const deleteOld = [
  statement(
    'delete_old_request_keys',
    `
  delete from request_key where ctid = any (array (
    select ctid from request_key where at < clock_timestamp() - interval '1 day' limit ${KEYS_PER_STEP}))`,
  ),
  statement(
    'delete_old_login_codes',
    `delete from login_code where expires_at < clock_timestamp() - interval '1 hour'`,
  ),
  // Sessions end by themselves and are many; tokens that people have named stay in the list.
  statement(
    'delete_old_sessions',
    `
  delete from api_token where ctid = any (array (
    select ctid from api_token
     where name like 'browser-%' and expires_at < clock_timestamp() - interval '1 day' limit ${KEYS_PER_STEP}))`,
  ),
];

const valuesOf = ({ tenantId, operation, target, key }: RequestKey): Value[] => [
  tenantId,
  operation,
  encodeText(target),
  encodeText(key),
];

/** `cutOffMs`: how long a request may take at most. */
export async function beginRequest(
  database: Database,
  key: RequestKey,
  { bodyHash, cutOffMs }: { bodyHash: string; cutOffMs: number },
): Promise<BegunRequest> {
  const values = valuesOf(key);
  const [begun] = await database.run([call(beginKey, ...values, bodyHash, cutOffMs)]);
  const [made] = begun?.rows ?? [];
  if (made !== undefined) {
    const [again, partly] = made;
    return {
      state: 'begun',
      again: again === 't',
      ...(partly == null ? {} : { partly: JSON.parse(partly) as unknown }),
    };
  }
  const [row] = (await database.one(call(selectKey, ...values))).rows;
  // Let go between the two looks: the caller may ask again.
  if (row === undefined) return { state: 'under_way' };
  if (row[0] !== bodyHash) return { state: 'conflict' };
  if (row[1] === null || row[1] === undefined) return { state: 'under_way' };
  return { state: 'answered', status: Number(row[1]), answer: JSON.parse(row[2] ?? 'null') };
}

export async function answerRequest(
  database: Database,
  key: RequestKey,
  { status, answer }: { status: number; answer: unknown },
): Promise<void> {
  await database.one(call(answerKey, ...valuesOf(key), status, JSON.stringify(answer)));
}

/** It is not known what became of the change, or only a part of it was made: `partly`, for whoever makes the rest. */
export async function releaseRequest(database: Database, key: RequestKey, partly?: unknown): Promise<void> {
  const told = partly === undefined ? null : JSON.stringify(partly);
  await database.one(call(releaseKey, ...valuesOf(key), told));
}

/** Nothing was changed, so nothing is remembered (I12). */
export async function forgetRequest(database: Database, key: RequestKey): Promise<void> {
  await database.one(call(forgetKey, ...valuesOf(key)));
}

/** Keys live for a day, login codes and sessions for as long as they are valid. One step; the next call goes on. */
export async function dropOldRequests(database: Database): Promise<void> {
  await database.run(deleteOld.map((deletion) => call(deletion)));
}
