/** Rows of `trigger_pending`: events that wait for others. Inserted and deleted, never changed. */
import type { Actor, DagId, HeldFold, Instant, RunUid, ShardNo, StoredHeldEvents, TenantId } from '@signalbox/engine';
import type { CallResult, Row } from '../batch.ts';
import { type Call, call, rowsOf, statement } from '../statement.ts';
import { decodeNullableText, decodeText, plainArray, textArray, uuidArray } from '../text.ts';

/** Leans on the primary key (shard, dag_id, trigger_name, group_key, event_no). */
const deletePending = statement(
  'delete_pending_events',
  `
  delete from trigger_pending p
   using unnest($1::smallint[], $2::bigint[], $3::text[], $4::text[]) as u (shard, dag_id, trigger_name, group_key)
   where p.shard = u.shard and p.dag_id = u.dag_id and p.trigger_name = u.trigger_name and p.group_key = u.group_key`,
);

const insertPending = statement(
  'insert_pending_events',
  `
  insert into trigger_pending (shard, dag_id, trigger_name, group_key, event_no, tenant_id, uid, debounced, opened_at, fires_at, held_at, actor, params)
  ${rowsOf(
    'shard smallint',
    'dag_id bigint',
    'trigger_name text',
    'group_key text',
    'event_no integer',
    'tenant_id integer',
    'uid uuid',
    'debounced boolean',
    'opened_at bigint',
    'fires_at bigint',
    'held_at bigint',
    'actor text',
    'params text',
  )}`,
);

export function changeHeld(folds: readonly HeldFold[]): Call[] {
  const keys = (list: readonly Pick<HeldFold, 'shard' | 'dagId' | 'trigger' | 'groupKey'>[]) => [
    plainArray(list.map(({ shard }) => shard)),
    plainArray(list.map(({ dagId }) => dagId)),
    textArray(list.map(({ trigger }) => trigger)),
    textArray(list.map(({ groupKey }) => groupKey)),
  ];
  const cleared = folds.filter(({ clears }) => clears);
  const events = folds.flatMap((fold) => fold.events);
  const calls: Call[] = [];
  if (cleared.length > 0) calls.push(call(deletePending, ...keys(cleared)));
  if (events.length > 0) {
    calls.push(
      call(
        insertPending,
        ...keys(events),
        plainArray(events.map(({ eventNo }) => eventNo)),
        plainArray(events.map(({ tenantId }) => tenantId)),
        uuidArray(events.map(({ uid }) => uid)),
        plainArray(events.map(({ isDebounced }) => isDebounced)),
        plainArray(events.map(({ openedAt }) => openedAt)),
        plainArray(events.map(({ firesAt }) => firesAt)),
        plainArray(events.map(({ at }) => at)),
        textArray(events.map(({ actor }) => actor)),
        textArray(events.map(({ params }) => params)),
      ),
    );
  }
  return calls;
}

/** In the order of the primary key: events that wait together come one after the other. */
export const selectPending = statement(
  'select_pending_events',
  `
  select shard, dag_id, trigger_name, group_key, event_no, tenant_id, uid, debounced, opened_at, fires_at, held_at, actor, params
    from trigger_pending where shard = any ($1::smallint[])
   order by shard, dag_id, trigger_name, group_key, event_no`,
);

export function parsePending({ rows }: CallResult): StoredHeldEvents[] {
  const found: StoredHeldEvents[] = [];
  for (const row of rows) {
    const event = parseRow(row);
    const last = found.at(-1);
    const isSame = last?.dagId === event.dagId && last.trigger === event.trigger && last.groupKey === event.groupKey;
    // The newest row says when it fires, and counts them all.
    if (isSame && last !== undefined) found[found.length - 1] = { ...event, params: [...last.params, ...event.params] };
    else found.push(event);
  }
  return found;
}

function parseRow(row: Row): StoredHeldEvents {
  const [shard, dagId, trigger, groupKey, eventNo, tenantId, uid, debounced, openedAt, firesAt, heldAt, actor, params] =
    row;
  return {
    shard: Number(shard) as ShardNo,
    dagId: Number(dagId) as DagId,
    trigger: decodeText(trigger ?? ''),
    groupKey: decodeText(groupKey ?? ''),
    tenantId: Number(tenantId) as TenantId,
    uid: uid as RunUid,
    isDebounced: debounced === 't',
    openedAt: Number(openedAt) as Instant,
    firesAt: Number(firesAt) as Instant,
    heldAt: Number(heldAt) as Instant,
    actor: decodeText(actor ?? '') as Actor,
    eventCount: Number(eventNo) + 1,
    params: [decodeNullableText(params ?? null)],
  };
}
