/** Callbacks for runs that have ended. The first server takes a callback for a while; none is ever forgotten (I61). */
import type { Instant, RunOutcome, RunUid, TenantId } from '@signalbox/engine';
import type { Row } from '../batch.ts';
import { runOutcomes } from '../codes.ts';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { encodeText } from '../text.ts';

const STATES = ['waiting', 'done', 'given_up'] as const;
type CallbackState = (typeof STATES)[number];

export interface CallbackRow {
  readonly key: { readonly shard: number; readonly runId: number; readonly at: Instant };
  readonly tenantId: TenantId;
  readonly dag: string;
  readonly run: RunUid;
  readonly outcome: RunOutcome;
  readonly url: string;
  readonly attempts: number;
  readonly state: CallbackState;
  readonly nextAt: Instant;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
}

const COLUMNS = `c.shard, c.run_id, c.at, c.tenant_id, d.name, c.uid, c.outcome, c.url, c.attempts, c.state,
  floor(extract(epoch from c.next_at) * 1000), c.last_status, c.last_error`;

/** One that dies with a call in its hands holds it up for the lease. Leans on callback_due. */
const takeDue = statement(
  'take_callbacks',
  `
  with taken as (
    update callback c set attempts = c.attempts + 1, next_at = clock_timestamp() + $1::bigint * interval '1 millisecond'
     where c.ctid = any (array (
       select ctid from callback where state = 0 and next_at <= clock_timestamp() order by next_at limit $2::integer
          for update skip locked))
    returning c.*)
  select ${COLUMNS} from taken c join dag d on d.shard = c.shard and d.dag_id = c.dag_id`,
);
const settle = statement(
  'settle_callback',
  `
  update callback set state = $4::smallint, next_at = clock_timestamp() + $5::bigint * interval '1 millisecond',
      last_status = nullif($6::smallint, 0), last_error = $7::text
    where shard = $1::smallint and run_id = $2::bigint and at = $3::bigint and state = 0`,
);
/** Leans on callback_tenant, from its end. */
const selectList = statement(
  'list_callbacks',
  `
  select ${COLUMNS} from callback c join dag d on d.shard = c.shard and d.dag_id = c.dag_id
   where c.tenant_id = $1::integer and c.at < $2::bigint and ($3::smallint < 0 or c.state = $3::smallint)
   order by c.at desc limit $4::integer`,
);
const again = statement(
  'repeat_callbacks',
  `update callback set state = 0, attempts = 0, next_at = clock_timestamp() where tenant_id = $1::integer and uid = $2::uuid`,
);
const deleteOld = statement(
  'delete_old_callbacks',
  `
  delete from callback where ctid = any (array (
    select ctid from callback where state <> 0 and next_at < clock_timestamp() - interval '7 days' limit 1000))`,
);

/** Takes callbacks that are due; no other server gets them for `leaseMs`. */
export async function takeCallbacks(
  database: Database,
  { leaseMs, limit }: { readonly leaseMs: number; readonly limit: number },
): Promise<CallbackRow[]> {
  return (await database.one(call(takeDue, leaseMs, limit))).rows.map(parse);
}

export interface CallbackEnd {
  readonly state: CallbackState;
  /** Until it is tried again; for one that is over, 0. */
  readonly delayMs: number;
  readonly status: number | null;
  readonly error: string | null;
}

export async function settleCallback(database: Database, key: CallbackRow['key'], end: CallbackEnd): Promise<void> {
  const state = STATES.indexOf(end.state);
  const error = end.error === null ? null : encodeText(end.error);
  await database.one(call(settle, key.shard, key.runId, key.at, state, end.delayMs, end.status ?? 0, error));
}

export interface ListCallbacks {
  readonly before: Instant;
  readonly state: CallbackState | null;
  readonly limit: number;
}

export async function listCallbacks(
  database: Database,
  tenantId: TenantId,
  { before, state, limit }: ListCallbacks,
): Promise<CallbackRow[]> {
  const code = state === null ? -1 : STATES.indexOf(state);
  return (await database.one(call(selectList, tenantId, before, code, limit))).rows.map(parse);
}

/** All calls of a run are made again. How many that are. */
export async function repeatCallbacks(database: Database, tenantId: TenantId, run: RunUid): Promise<number> {
  return Number((await database.one(call(again, tenantId, run))).tag.split(' ')[1] ?? 0);
}

export async function dropOldCallbacks(database: Database): Promise<void> {
  await database.one(call(deleteOld));
}

function parse(row: Row): CallbackRow {
  const [shard, runId, at, tenantId, dag, uid, outcome, url, attempts, state, nextAt, lastStatus, lastError] = row;
  return {
    key: { shard: Number(shard), runId: Number(runId), at: Number(at) as Instant },
    tenantId: Number(tenantId) as TenantId,
    dag: dag ?? '',
    run: uid as RunUid,
    outcome: runOutcomes.word(Number(outcome)),
    url: url ?? '',
    attempts: Number(attempts),
    state: STATES[Number(state)] ?? 'waiting',
    nextAt: Number(nextAt) as Instant,
    lastStatus: lastStatus === null || lastStatus === undefined ? null : Number(lastStatus),
    lastError: lastError ?? null,
  };
}
