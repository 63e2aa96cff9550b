/** Reads dead letters and breakers for the engine. */
import type {
  AttemptNo,
  DagId,
  DeadLetterRef,
  Fingerprint,
  Instant,
  RunId,
  ShardNo,
  StoredBreaker,
  StoredDeadLetter,
  TaskNo,
  TenantId,
} from '@signalbox/engine';
import type { CallResult } from '../batch.ts';
import { breakerStates, deadLetterStates } from '../codes.ts';
import { type Call, call, rowsOf, statement } from '../statement.ts';
import { plainArray } from '../text.ts';
import { keyColumns } from './run.ts';

/** By primary key. */
const selectDeadLetters = statement(
  'select_letters',
  `
  select d.run_id, d.task_no, d.attempt_no, d.tenant_id, d.state
    from (${rowsOf('shard smallint', 'run_id bigint', 'task_no integer', 'attempt_no integer')}) u
    join dead_letter d on d.shard = u.shard and d.run_id = u.run_id and d.task_no = u.task_no and d.attempt_no = u.attempt_no`,
);

export function readDeadLetters(deadLetters: readonly DeadLetterRef[]): Call {
  return call(
    selectDeadLetters,
    ...keyColumns(deadLetters),
    plainArray(deadLetters.map((deadLetter) => deadLetter.taskNo)),
    plainArray(deadLetters.map((deadLetter) => deadLetter.attemptNo)),
  );
}

export function parseDeadLetters({ rows }: CallResult): StoredDeadLetter[] {
  return rows.map(([runId, taskNo, attemptNo, tenantId, state]) => ({
    runId: Number(runId) as RunId,
    taskNo: Number(taskNo) as TaskNo,
    attemptNo: Number(attemptNo) as AttemptNo,
    tenantId: Number(tenantId) as TenantId,
    state: deadLetterStates.word(Number(state)),
  }));
}

export const selectBreakers = statement(
  'select_breakers',
  `
  select shard, dag_id, fingerprint, tenant_id, state, pause_ms, opened_at, since
    from breaker where shard = any ($1::smallint[]) order by shard, dag_id, fingerprint`,
);

export function parseBreakers({ rows }: CallResult): StoredBreaker[] {
  return rows.map(([shard, dagId, fingerprint, tenantId, state, pauseMs, openedAt, since]) => ({
    shard: Number(shard) as ShardNo,
    dagId: Number(dagId) as DagId,
    fingerprint: fingerprint === '0' ? null : (Number(fingerprint) as Fingerprint),
    tenantId: Number(tenantId) as TenantId,
    state: breakerStates.word(Number(state)) as StoredBreaker['state'],
    pauseMs: Number(pauseMs),
    openedAt: Number(openedAt) as Instant,
    since: Number(since) as Instant,
  }));
}
