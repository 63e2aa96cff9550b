/** Events that dags expect, and those that did not come and are still to be sent. */
import type { DagId, ExpectSpec, Instant, ShardNo, TenantId } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { decodeText, encodeText } from '../text.ts';

export interface ExpectationRow {
  readonly dag: string;
  readonly spec: ExpectSpec;
  readonly sinceAt: Instant;
  readonly dueAt: Instant | null;
  readonly lastAt: Instant | null;
}

export interface MissedEventRow {
  readonly key: { readonly shard: ShardNo; readonly dagId: DagId; readonly name: string; readonly dueAt: Instant };
  readonly tenantId: TenantId;
  readonly tenant: string;
  readonly dag: string;
  readonly spec: ExpectSpec;
  readonly sinceAt: Instant;
  readonly at: Instant;
}

const selectExpectations = statement(
  'list_expectations',
  `
  select d.name, e.spec::text, e.since_at, e.due_at, e.last_at
    from expectation e join dag d on d.shard = e.shard and d.dag_id = e.dag_id
   where e.tenant_id = $1::integer and ($2::text is null or d.name = $2::text) order by d.name, e.name limit 1000`,
);
/** Few, and gone soon: those of tenants that may start runs. */
const selectMissed = statement(
  'list_missed_events',
  `
  select m.shard, m.dag_id, m.name, m.due_at, m.tenant_id, t.name, d.name, m.spec::text, m.since_at, m.at
    from missed_event m join dag d on d.shard = m.shard and d.dag_id = m.dag_id join tenant t on t.tenant_id = m.tenant_id
   where t.state = 'active' order by m.at limit $1::integer`,
);
const deleteMissed = statement(
  'delete_missed_event',
  `
  delete from missed_event where shard = $1::smallint and dag_id = $2::bigint and name = $3::text and due_at = $4::bigint`,
);

export async function listExpectations(
  database: Database,
  tenantId: TenantId,
  dag: string | null,
): Promise<ExpectationRow[]> {
  const { rows } = await database.one(call(selectExpectations, tenantId, dag === null ? null : encodeText(dag)));
  return rows.map(([name, spec, since, due, last]) => ({
    dag: decodeText(name ?? ''),
    spec: JSON.parse(spec ?? '{}') as ExpectSpec,
    sinceAt: Number(since) as Instant,
    dueAt: instantOrNull(due),
    lastAt: instantOrNull(last),
  }));
}

export async function listMissedEvents(database: Database, limit: number): Promise<MissedEventRow[]> {
  const { rows } = await database.one(call(selectMissed, limit));
  return rows.map(([shard, dagId, name, dueAt, tenantId, tenant, dag, spec, sinceAt, at]) => ({
    key: {
      shard: Number(shard) as ShardNo,
      dagId: Number(dagId) as DagId,
      name: decodeText(name ?? ''),
      dueAt: Number(dueAt) as Instant,
    },
    tenantId: Number(tenantId) as TenantId,
    tenant: decodeText(tenant ?? ''),
    dag: decodeText(dag ?? ''),
    spec: JSON.parse(spec ?? '{}') as ExpectSpec,
    sinceAt: Number(sinceAt) as Instant,
    at: Number(at) as Instant,
  }));
}

export async function deleteMissedEvent(database: Database, key: MissedEventRow['key']): Promise<void> {
  const { shard, dagId, name, dueAt } = key;
  await database.one(call(deleteMissed, shard, dagId, encodeText(name), dueAt));
}

function instantOrNull(text: string | null | undefined): Instant | null {
  return text === null || text === undefined ? null : (Number(text) as Instant);
}
