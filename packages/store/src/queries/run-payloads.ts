/** The params of a run and the outputs of its tasks. */
import { shardOfRun, type TaskNo, type TenantId } from '@signalbox/engine';
import type { Row } from '../batch.ts';
import type { Database } from '../database.ts';
import { type KnownDays, leafOfRun, readable } from '../leaf.ts';
import { call, leafStatement } from '../statement.ts';
import { PARAMS_TASK_NO } from '../statements/attempt.ts';
import { decodeNullableText, decodeText, plainArray } from '../text.ts';
import { findRunId } from './resolve-run.ts';

const selectPayload = leafStatement(
  'view_payload',
  (leaf) => `
  select p.body from ${readable('run', leaf)} r
    join ${readable('payload', leaf)} p on p.shard = r.shard and p.run_id = r.run_id and p.task_no = $4::integer
   where r.shard = $1::smallint and r.run_id = $2::bigint and r.tenant_id = $3::integer`,
);

/** In order of the tasks, params first, for as long as the sum of their bytes is within a limit. */
const selectPayloads = leafStatement(
  'view_payloads',
  (leaf) => `
  select task_no, body from (
    select p.task_no, p.body, sum(octet_length(p.body)) over (order by p.task_no) as bytes
      from run_${leaf} r join payload_${leaf} p on p.shard = r.shard and p.run_id = r.run_id
     where r.shard = $1::smallint and r.run_id = $2::bigint and r.tenant_id = $3::integer
       and p.task_no >= -1 and ($5::integer[] is null or p.task_no = any ($5::integer[]))) p
   where bytes <= $4::bigint`,
);

/** The params of a run (`taskNo` null) or the output of one of its tasks. */
export async function getPayload(
  database: Database,
  days: KnownDays,
  tenantId: TenantId,
  { uid, taskNo }: { uid: string; taskNo: TaskNo | null },
): Promise<string | null> {
  return database.snapshot(async (ask) => {
    const runId = await findRunId(ask, days, tenantId, uid);
    if (runId === null) return null;
    const key = [shardOfRun(runId), runId, tenantId, taskNo ?? PARAMS_TASK_NO];
    const [found] = await ask([call(selectPayload(leafOfRun(days, runId)), ...key)], { last: true });
    return decodeNullableText(found?.rows[0]?.[0] ?? null);
  });
}

export interface WantedPayloads {
  readonly uid: string;
  readonly bytesLimit: number;
  readonly taskNos?: readonly TaskNo[];
}

export interface RunPayloads {
  readonly params: string | null;
  /** By number of the task. */
  readonly outputs: ReadonlyMap<TaskNo, string>;
}

/** Params and outputs of a run, or outputs of some of its tasks; those beyond so many bytes in all are left out. */
export async function getPayloads(
  database: Database,
  days: KnownDays,
  tenantId: TenantId,
  { uid, bytesLimit, taskNos }: WantedPayloads,
): Promise<RunPayloads> {
  return database.snapshot(async (ask) => {
    const runId = await findRunId(ask, days, tenantId, uid);
    if (runId === null) return { params: null, outputs: new Map() };
    const some = taskNos === undefined ? null : plainArray(taskNos);
    const key = [shardOfRun(runId), runId, tenantId, bytesLimit, some];
    const [found] = await ask([call(selectPayloads(leafOfRun(days, runId)), ...key)], { last: true });
    return parsePayloads(found?.rows ?? []);
  });
}

/** Rows of a task's number, or that of params, and a body. */
export function parsePayloads(rows: readonly Row[]): RunPayloads {
  const outputs = new Map<TaskNo, string>();
  let params: string | null = null;
  for (const [taskNo, body] of rows) {
    if (Number(taskNo) === PARAMS_TASK_NO) params = decodeText(body ?? '');
    else outputs.set(Number(taskNo) as TaskNo, decodeText(body ?? ''));
  }
  return { params, outputs };
}
