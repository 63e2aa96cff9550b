/** Whether runs of other dags have succeeded. The dags may be of any shard: what is committed there is all that counts. */
import { firstRunIdAt, type Instant, type Need, type StoredRequirement, type TenantId } from '@signalbox/engine';
import type { CallResult } from '../batch.ts';
import { phases, runOutcomes } from '../codes.ts';
import { type Call, call, statement } from '../statement.ts';
import { decodeText, nullableArray, plainArray, textArray } from '../text.ts';

const ENDED = phases.code('ended');
const SUCCEEDED = runOutcomes.code('succeeded');
/** Runs that were created longer than this before the time in question are not looked for. */
const LONGEST_RUN_MS = 30 * 86_400_000;

/**
 * Leans on the unique index (tenant_id, name) of `dag`, and on (shard, dag_id, fires_at, run_id) or (shard, dag_id, run_id) of the
 * partitions of `run`: newest first, so that a dag that succeeds now and then is answered by its last runs.
 */
const selectRequirements = statement(
  'select_requirements',
  `
  select u.tenant_id, u.name, u.since, u.fires_at, case when u.fires_at is null
      then exists (select from run r where r.shard = d.shard and r.dag_id = d.dag_id and r.run_id >= u.first_id
                     and r.phase = ${ENDED} and r.outcome = ${SUCCEEDED} and r.ended_at >= u.since
                   order by r.run_id desc)
      else exists (select from run r where r.shard = d.shard and r.dag_id = d.dag_id and r.fires_at = u.fires_at
                     and r.phase = ${ENDED} and r.outcome = ${SUCCEEDED}) end
    from unnest($1::integer[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[]) as u (tenant_id, name, since, fires_at, first_id)
    left join dag d on d.tenant_id = u.tenant_id and d.name = u.name`,
);

export function readRequirements(needs: readonly Extract<Need, { kind: 'requirement' }>[]): Call {
  return call(
    selectRequirements,
    plainArray(needs.map(({ tenantId }) => tenantId)),
    textArray(needs.map(({ dag }) => dag)),
    nullableArray(needs.map(({ since }) => since)),
    nullableArray(needs.map(({ window }) => window)),
    plainArray(needs.map(({ since }) => firstRunIdAt(Math.max((since ?? 0) - LONGEST_RUN_MS, 0) as Instant))),
  );
}

export function parseRequirements({ rows }: CallResult): StoredRequirement[] {
  const instant = (text: string | null | undefined) => (text == null ? null : (Number(text) as Instant));
  return rows.map(([tenantId, dag, since, window, isMet]) => ({
    tenantId: Number(tenantId) as TenantId,
    dag: decodeText(dag ?? ''),
    since: instant(since),
    window: instant(window),
    isMet: isMet === 't',
  }));
}
