/** Large outputs, for workers: read in pages, and stored before the report that refers to them. */
import { type RunId, shardOfRun, type TenantId } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { type LargeOutput, type OutputsOfRun, someRow } from '../large-output.ts';
import { type KnownDays, leafOfRun, readable } from '../leaf.ts';
import { call, leafStatement } from '../statement.ts';
import { decodeText, encodeText, plainArray } from '../text.ts';

/** Limit per run: without it, a worker with one task could fill the disk. */
const MOST_BYTES_OF_RUN = 2 * 1024 * 1024 * 1024;
const TRIES = 5;

/**
 * Leans on the primary key (shard, run_id, task_no) of the partition, once for each output. A plain join went through all outputs of
 * the run for each of them on a table of which PostgreSQL had no statistics yet: 2.2 s for a map of 10,000. `offset 0`
 * keeps the planner from making a join of it.
 */
export const selectOutputs = leafStatement(
  'read_outputs',
  (leaf) => `
  select ord, body from (
    select u.ord, p.body, sum(coalesce(octet_length(p.body), 4)) over (order by u.ord) - coalesce(octet_length(p.body), 4) as before
      from unnest($4::integer[]) with ordinality as u (no, ord)
      left join lateral (
        select body from ${readable('payload', leaf)}
         where shard = $1::smallint and run_id = $2::bigint and task_no = u.no offset 0) p on true
     where exists (select from ${readable('run', leaf)} r
                    where r.shard = $1::smallint and r.run_id = $2::bigint and r.tenant_id = $3::integer)) o
   where before < $5::bigint order by ord`,
);

/** A row that is taken, and a run that is full or another tenant's, get none. Leans on the same key. */
const insertLarge = leafStatement(
  'store_large_output',
  (leaf) => `
  insert into payload_${leaf} (shard, run_id, task_no, body)
  select $1::smallint, $2::bigint, $4::integer, $5::text
   where exists (select from run_${leaf} r
                  where r.shard = $1::smallint and r.run_id = $2::bigint and r.tenant_id = $3::integer)
     and coalesce((select sum(octet_length(p.body)) from payload_${leaf} p
           where p.shard = $1::smallint and p.run_id = $2::bigint and p.task_no <= -1000000000), 0) < ${MOST_BYTES_OF_RUN}
  on conflict do nothing
  returning 1`,
);

/** The first of the requested outputs, in order; null for a task without one. Empty if the run belongs to another tenant. */
export async function readOutputs(
  database: Database,
  days: KnownDays,
  tenantId: TenantId,
  { runId, nos, bytesLimit }: OutputsOfRun,
): Promise<(string | null)[]> {
  const leaf = leafOfRun(days, runId);
  const key = [shardOfRun(runId), runId, tenantId];
  const { rows } = await database.one(call(selectOutputs(leaf), ...key, plainArray(nos), bytesLimit));
  return rows.map(([, body]) => (body === null || body === undefined ? null : decodeText(body)));
}

/** Where it is; null when the run has no room for it, or is not the tenant's. */
export async function storeLargeOutput(
  database: Database,
  days: KnownDays,
  tenantId: TenantId,
  { runId, json }: { readonly runId: RunId; readonly json: string },
): Promise<LargeOutput | null> {
  const leaf = leafOfRun(days, runId);
  const body = encodeText(json);
  for (let tried = 0; tried < TRIES; tried++) {
    const row = someRow(Math.random());
    const key = [shardOfRun(runId), runId, tenantId, row];
    const { rows } = await database.one(call(insertLarge(leaf), ...key, body));
    if (rows.length > 0) return { row, bytes: Buffer.byteLength(json) };
  }
  return null;
}
