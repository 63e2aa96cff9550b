/** Whether runs of other dags have succeeded. The dags may be of any shard: what is committed there is all that counts. */
import { firstRunIdAt, type Instant, type Need, type StoredRequirement, type TenantId } from '@signalbox/engine';
import type { CallResult } from '../batch.ts';
import { phases, runOutcomes } from '../codes.ts';
import { type Call, call, statement } from '../statement.ts';
import { decodeText, nullableArray, plainArray, textArray } from '../text.ts';
import { BUCKETS_PER_OCTAVE, NO_DURATION } from './rollup.ts';

const ENDED = phases.code('ended');
const SUCCEEDED = runOutcomes.code('succeeded');
const HOUR_MS = 3_600_000;
/** Runs that took longer than this, or were opened again after so long, are not looked for. */
const LONGEST_RUN_MS = 30 * 86_400_000;
const IDS_PER_SECOND = firstRunIdAt(2e12 as Instant) - firstRunIdAt((2e12 - 1_000) as Instant);

/**
 * Within a time: sums by hour tell of all hours but the one in which the time begins. Of that hour they tell how many runs have succeeded:
 * so many are looked for, from as long before as the longest of them took. So a dag that fails a hundred thousand times a day costs a
 * few rows, each time that it is asked for. Leans on the unique index (tenant_id, name) of `dag`, on the key of `run_rollup`, and on
 * (shard, dag_id, fires_at, run_id) or (shard, dag_id, run_id) of the partitions of `run`.
 */
const selectRequirements = statement(
  'select_requirements',
  `
  select u.tenant_id, u.name, u.since, u.fires_at, case when u.fires_at is null
      then exists (select from run_rollup k where k.shard = d.shard and k.dag_id = d.dag_id and k.hour > u.since / ${HOUR_MS}
                     and k.outcome = ${SUCCEEDED} and k.runs > 0)
        or exists (select from (
                       select sum(k.runs) as runs, case when min(k.bucket) = ${NO_DURATION} then ${LONGEST_RUN_MS}
                           else least(power(2::float8, max(k.bucket)::float8 / ${BUCKETS_PER_OCTAVE}), ${LONGEST_RUN_MS}) end as longest_ms
                         from run_rollup k where k.shard = d.shard and k.dag_id = d.dag_id and k.hour = u.since / ${HOUR_MS}
                          and k.outcome = ${SUCCEEDED} and k.runs > 0
                        having count(*) > 0) known,
                     lateral (
                       select r.ended_at from run r where r.shard = d.shard and r.dag_id = d.dag_id
                          and r.run_id >= u.first_id - (known.longest_ms / 1000 + 2)::bigint * ${IDS_PER_SECOND}
                          and r.phase = ${ENDED} and r.outcome = ${SUCCEEDED} and r.ended_at / ${HOUR_MS} = u.since / ${HOUR_MS}
                        order by r.run_id limit known.runs) found where found.ended_at >= u.since)
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
    plainArray(needs.map(({ since }) => firstRunIdAt((Math.floor((since ?? 0) / HOUR_MS) * HOUR_MS) as Instant))),
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
