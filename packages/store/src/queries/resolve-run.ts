/** Finds a run by its public id. */
import {
  isOwnRunId,
  type RunId,
  type RunUid,
  SHARD_COUNT,
  type ShardNo,
  shardOfRun,
  shardOfUid,
  type TenantId,
} from '@signalbox/engine';
import type { Ask, Database } from '../database.ts';
import { findRunIds } from '../fetch.ts';
import { type KnownDays, leafOfRun, readable } from '../leaf.ts';
import { call, leafStatement } from '../statement.ts';
import { findOwnRun } from './own-run-ids.ts';

const selectOwner = leafStatement(
  'view_run_owner',
  (leaf) =>
    `select 1 from ${readable('run', leaf)} where shard = $1::smallint and run_id = $2::bigint and tenant_id = $3::integer`,
);

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Where a run is, if it is one of the tenant's. */
export async function resolveRun(
  database: Database,
  days: KnownDays,
  tenantId: TenantId,
  uid: string,
): Promise<{ shard: ShardNo; runId: RunId } | null> {
  return database.snapshot(async (ask) => {
    const runId = await findRunId(ask, days, tenantId, uid);
    if (runId === null) return null;
    const shard = shardOfRun(runId);
    const [owner] = await ask([call(selectOwner(leafOfRun(days, runId)), shard, runId, tenantId)], { last: true });
    return owner?.rows.length === 1 ? { shard, runId } : null;
  });
}

export async function findRunId(ask: Ask, days: KnownDays, tenantId: TenantId, uid: string): Promise<RunId | null> {
  if (!UUID.test(uid)) return null;
  const known = uid.toLowerCase() as RunUid;
  if (isOwnRunId(known)) return findOwnRun(ask, tenantId, known);
  const shard = shardOfUid(known);
  if (!(shard < SHARD_COUNT)) return null;
  return (await findRunIds(ask, days, [{ shard, uid: known }]))[0] ?? null;
}
