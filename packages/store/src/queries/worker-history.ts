/** When workers came and went, and what was done to them. What servers saw comes in batches; what a person asked for, one by one. */
import type { NodeId, TenantId, WorkerId } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { call, rowsOf, statement } from '../statement.ts';
import { decodeText, encodeText, plainArray, textArray, uuidArray } from '../text.ts';

/** `connected` becomes `registered` or `returned`. */
export type SeenKind = 'connected' | 'draining' | 'left' | 'disconnected' | 'lost' | 'clock_wrong' | 'clock_right';

export interface WorkerEventSeen {
  readonly kind: SeenKind;
  readonly tenantId: TenantId;
  readonly workerId: WorkerId;
  readonly name: string;
  /** Plain JSON. */
  readonly details: object;
}

export interface WorkerAsked {
  readonly kind: 'drain_asked' | 'evict_asked' | 'cordoned' | 'uncordoned';
  readonly tenantId: TenantId;
  readonly workerId: string;
  readonly actor: string;
  readonly details: object;
}

export interface StoredWorkerEvent {
  readonly id: number;
  readonly at: number;
  readonly workerId: string;
  readonly name: string;
  readonly kind: string;
  readonly nodeId: string | null;
  readonly actor: string;
  readonly details: unknown;
}

export interface ListWorkerEvents {
  /** An id, the beginning of one, or a name; null: of all. */
  readonly worker: string | null;
  readonly kind: string | null;
  readonly before: number;
  readonly limit: number;
}

/**
 * In the order in which they were seen. A worker is lost to the server that saw it last: one that has gone to another server meanwhile, or
 * that has left in order, is not. Leans on the index (worker_id, event_id).
 */
const insertSeen = statement(
  'insert_worker_events',
  `
  insert into worker_event (tenant_id, worker_id, name, kind, node_id, details)
  select s.tenant_id, s.worker_id, s.name,
      case when s.kind <> 'connected' then s.kind
        when exists (select from worker_event e where e.worker_id = s.worker_id and e.node_id is not null) then 'returned'
        else 'registered' end,
      $6::uuid, s.details
    from (${rowsOf('tenant_id integer', 'worker_id uuid', 'name text', 'kind text', 'details json')}) s
   where s.kind <> 'lost' or (
      select e.node_id = $6::uuid and e.kind <> 'left' from worker_event e
       where e.worker_id = s.worker_id and e.node_id is not null order by e.event_id desc limit 1)`,
);
/** With the name that it had last. */
const insertAsked = statement(
  'insert_worker_asked',
  `
  insert into worker_event (tenant_id, worker_id, name, kind, actor, details)
  select $1::integer, $2::uuid, coalesce(
      (select e.name from worker_event e where e.worker_id = $2::uuid order by e.event_id desc limit 1), ''),
    $3::text, $4::text, $5::json`,
);
const selectEvents = statement(
  'select_worker_events',
  `
  select event_id, floor(extract(epoch from at) * 1000)::bigint, worker_id, name, kind, node_id, actor, details
    from worker_event
   where tenant_id = $1::integer and event_id < $2::bigint and ($3::text is null or kind = $3::text)
     and ($4::text is null or name = $4::text or starts_with(worker_id::text, $4::text))
   order by event_id desc limit $5::integer`,
);
const selectNames = statement(
  'select_worker_names',
  `
  select distinct on (worker_id) worker_id, name from worker_event
   where worker_id = any ($2::uuid[]) and tenant_id = $1::integer and name <> '' order by worker_id, event_id desc`,
);
const ROWS_PER_STEP = 10_000;
const dropOld = statement(
  'drop_old_worker_events',
  `
  with gone as (
    delete from worker_event where ctid = any (array (
      select ctid from worker_event where at < to_timestamp($1::float8 / 1000) limit ${ROWS_PER_STEP}))
    returning 1)
  select count(*) from gone`,
);

export async function keepWorkerEvents(
  database: Database,
  nodeId: NodeId,
  seen: readonly WorkerEventSeen[],
): Promise<void> {
  if (seen.length === 0) return;
  await database.write([
    call(
      insertSeen,
      plainArray(seen.map(({ tenantId }) => tenantId)),
      uuidArray(seen.map(({ workerId }) => workerId)),
      textArray(seen.map(({ name }) => name)),
      textArray(seen.map(({ kind }) => kind)),
      textArray(seen.map(({ details }) => JSON.stringify(details))),
      nodeId,
    ),
  ]);
}

export async function keepWorkerAsked(database: Database, asked: WorkerAsked): Promise<void> {
  const { tenantId, workerId, kind, actor, details } = asked;
  await database.write([
    call(insertAsked, tenantId, workerId, kind, encodeText(actor), encodeText(JSON.stringify(details))),
  ]);
}

/** Newest first. */
export async function listWorkerEvents(
  database: Database,
  tenantId: TenantId,
  { worker, kind, before, limit }: ListWorkerEvents,
): Promise<StoredWorkerEvent[]> {
  const wanted = worker === null ? null : encodeText(worker);
  const { rows } = await database.one(call(selectEvents, tenantId, before, kind, wanted, limit));
  return rows.map(([id, at, workerId, name, what, nodeId, actor, details]) => ({
    id: Number(id),
    at: Number(at),
    workerId: workerId ?? '',
    name: decodeText(name ?? ''),
    kind: what ?? '',
    nodeId: nodeId ?? null,
    actor: decodeText(actor ?? ''),
    details: JSON.parse(details ?? '{}') as unknown,
  }));
}

/** Of those that are of the tenant, also of workers that are gone. */
export async function namesOfWorkers(
  database: Database,
  tenantId: TenantId,
  workerIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (workerIds.length === 0) return new Map();
  const { rows } = await database.one(call(selectNames, tenantId, uuidArray(workerIds)));
  return new Map(rows.map(([workerId, name]) => [workerId ?? '', decodeText(name ?? '')]));
}

/** One step; true while there may be more. */
export async function dropOldWorkerEvents(database: Database, before: number): Promise<boolean> {
  const { rows } = await database.one(call(dropOld, before));
  return Number(rows[0]?.[0]) === ROWS_PER_STEP;
}
