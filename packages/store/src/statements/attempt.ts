/** Rows of `attempt`, which are inserted and never changed, and of `payload`, which change only through manual actions. */

import type { AttemptMeasured, AttemptRow, FoldedRows, PayloadRow } from '@signalbox/engine';
import { attemptOutcomes } from '../codes.ts';
import { integers } from '../columns.ts';
import type { Leaf } from '../leaf.ts';
import { type Call, call, leafStatement, rowsOf } from '../statement.ts';
import { nullableArray, plainArray, textArray, uuidArray } from '../text.ts';
import { keyColumns } from './run.ts';

const insertAttemptRows = leafStatement(
  'insert_attempts',
  (leaf) => `
  insert into attempt_${leaf} (shard, run_id, task_no, attempt_no, fence, worker_id, outcome, claimed_at, started_at, ended_at,
    retry_at, error, code, fingerprint, speculative)
  ${rowsOf(
    'shard smallint',
    'run_id bigint',
    'task_no integer',
    'attempt_no integer',
    'fence bigint',
    'worker_id uuid',
    'outcome smallint',
    'claimed_at bigint',
    'started_at bigint',
    'ended_at bigint',
    'retry_at bigint',
    'error text',
    'code text',
    'fingerprint bigint',
    'speculative boolean',
  )}`,
);

export function insertAttempts(leaf: Leaf, attempts: readonly AttemptRow[]): Call {
  return call(
    insertAttemptRows(leaf),
    ...keyColumns(attempts),
    plainArray(attempts.map((attempt) => attempt.taskNo)),
    plainArray(attempts.map((attempt) => attempt.attemptNo)),
    plainArray(attempts.map((attempt) => attempt.fence)),
    uuidArray(attempts.map((attempt) => attempt.workerId)),
    plainArray(attempts.map((attempt) => attemptOutcomes.code(attempt.outcome))),
    plainArray(attempts.map((attempt) => attempt.claimedAt)),
    nullableArray(attempts.map((attempt) => attempt.startedAt)),
    plainArray(attempts.map((attempt) => attempt.endedAt)),
    nullableArray(attempts.map((attempt) => attempt.retryAt)),
    textArray(attempts.map((attempt) => attempt.error)),
    textArray(attempts.map((attempt) => attempt.code)),
    nullableArray(attempts.map((attempt) => attempt.fingerprint)),
    plainArray(attempts.map((attempt) => attempt.speculative === true)),
  );
}

const insertUsageRows = leafStatement(
  'insert_usage',
  (leaf) => `
  insert into attempt_usage_${leaf} (shard, run_id, task_no, fence, cpu_ms, peak_bytes)
  ${rowsOf('shard smallint', 'run_id bigint', 'task_no integer', 'fence bigint', 'cpu_ms bigint', 'peak_bytes bigint')}`,
);

export function insertUsage(leaf: Leaf, measured: readonly AttemptMeasured[]): Call {
  return call(
    insertUsageRows(leaf),
    ...keyColumns(measured),
    plainArray(measured.map(({ taskNo }) => taskNo)),
    plainArray(measured.map(({ fence }) => fence)),
    nullableArray(measured.map(({ cpuMs }) => cpuMs)),
    nullableArray(measured.map(({ peakBytes }) => peakBytes)),
  );
}

/** The number under which the params of a run stand among the outputs of its tasks. */
export const PARAMS_TASK_NO = -1;

const insertPayloadRows = leafStatement(
  'insert_payloads',
  (leaf) => `
  insert into payload_${leaf} (shard, run_id, task_no, body)
  ${rowsOf('shard smallint', 'run_id bigint', 'task_no integer', 'body text')}`,
);

export function insertPayloads(leaf: Leaf, payloads: readonly PayloadRow[]): Call {
  return call(
    insertPayloadRows(leaf),
    ...keyColumns(payloads),
    integers(payloads.map((payload) => payload.taskNo ?? PARAMS_TASK_NO)),
    textArray(payloads.map((payload) => payload.body)),
  );
}

/** Leans on the primary key (shard, run_id, task_no) of the partition. */
const upsertPayloads = leafStatement(
  'put_payloads',
  (leaf) => `
  insert into payload_${leaf} (shard, run_id, task_no, body)
  ${rowsOf('shard smallint', 'run_id bigint', 'task_no integer', 'body text')}
  on conflict (shard, run_id, task_no) do update set body = excluded.body`,
);

const deletePayloads = leafStatement(
  'drop_payloads',
  (leaf) => `
  delete from payload_${leaf} p using (${rowsOf('shard smallint', 'run_id bigint', 'task_no integer')}) u
   where p.shard = u.shard and p.run_id = u.run_id and p.task_no = u.task_no`,
);

/** Outputs of tasks that may have had another one before, which is void (I36). */
export function replacePayloads(leaf: Leaf, payloads: readonly ReplacedPayload[]): Call[] {
  const calls: Call[] = [];
  const numbers = (list: readonly ReplacedPayload[]) => plainArray(list.map(({ taskNo }) => taskNo ?? PARAMS_TASK_NO));
  const put = payloads.filter(({ body }) => body !== null);
  const dropped = payloads.filter(({ body }) => body === null);
  if (put.length > 0) {
    calls.push(call(upsertPayloads(leaf), ...keyColumns(put), numbers(put), textArray(put.map(({ body }) => body))));
  }
  if (dropped.length > 0) calls.push(call(deletePayloads(leaf), ...keyColumns(dropped), numbers(dropped)));
  return calls;
}

type ReplacedPayload = FoldedRows['replaced'][number];
