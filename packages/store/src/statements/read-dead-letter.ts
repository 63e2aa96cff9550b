/** Reads dead letters for the engine. */
import type { AttemptNo, DeadLetterRef, RunId, StoredDeadLetter, TaskNo, TenantId } from '@signalbox/engine';
import type { CallResult } from '../batch.ts';
import { deadLetterStates } from '../codes.ts';
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
