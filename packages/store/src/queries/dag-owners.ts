/** Owners of dags that are set by hand: they go before those of definitions. Each change leaves an audit event (I71). */
import type { TenantId } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { encodeText } from '../text.ts';
import type { ChangedBy } from './audit.ts';

/** Of `dag d`; null: nobody has set one. */
export const OWNER_BY_HAND =
  '(select o.owner from dag_owner o where o.tenant_id = d.tenant_id and o.dag_name = d.name)';

const AUDIT = `insert into audit_event (tenant_id, actor, action, target, origin, outcome, details)
  select $1::integer, $3::text, 'dag.owner', dag_name, $4::text, 'done', $5::json from changed`;

const putOwner = statement(
  'put_dag_owner',
  `
  with changed as (
    insert into dag_owner (tenant_id, dag_name, owner, set_by) values ($1::integer, $2::text, $6::text, $3::text)
    on conflict (tenant_id, dag_name) do update set owner = excluded.owner, set_at = clock_timestamp(), set_by = excluded.set_by
    returning dag_name)
  ${AUDIT}`,
);
const removeOwner = statement(
  'remove_dag_owner',
  `
  with changed as (
    delete from dag_owner where tenant_id = $1::integer and dag_name = $2::text returning dag_name)
  ${AUDIT}`,
);

/** Null: that of the definition counts again. */
export async function setDagOwner(
  database: Database,
  { tenantId, name, owner }: { readonly tenantId: TenantId; readonly name: string; readonly owner: string | null },
  { actor, origin }: ChangedBy,
): Promise<void> {
  const details = JSON.stringify({ owner: owner === null ? null : encodeText(owner) });
  const of = [tenantId, encodeText(name), encodeText(actor), encodeText(origin), details] as const;
  await database.write([owner === null ? call(removeOwner, ...of) : call(putOwner, ...of, encodeText(owner))]);
}
