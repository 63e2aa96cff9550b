/** Rows of `dead_letter` and `breaker`, and what a failure stores with its task. Nothing is written if nothing fails. */
import type { AttemptEnded, DeadLetterClosed, DeadLetterWritten, TaskCleared, TaskMarked } from '@signalbox/engine';
import { attemptOutcomes, deadLetterReasons, deadLetterStates } from '../codes.ts';
import type { Leaf } from '../leaf.ts';
import { type Call, call, leafStatement, rowsOf, statement } from '../statement.ts';
import { nullableArray, plainArray, textArray, uuidArray } from '../text.ts';
import { keyColumns } from './run.ts';

const OPEN = deadLetterStates.code('open');

/** Uses the primary key (shard, run_id, task_no) of the partition. Runs after the rows were written. */
const noteFailures = leafStatement(
  'note_failures',
  (leaf) => `
  with hit as (
    update task_${leaf} t set fingerprint = u.fingerprint, quick_count = u.quick_count, quick_since = u.quick_since
      from (${rowsOf(
        'shard smallint',
        'run_id bigint',
        'task_no integer',
        'fingerprint bigint',
        'quick_count smallint',
        'quick_since bigint',
      )}) u
     where t.shard = u.shard and t.run_id = u.run_id and t.task_no = u.task_no
    returning 1)
  select expect_rows('note_failures', count(*), $7::integer) from hit`,
);

export function noteTaskFailures(leaf: Leaf, ends: readonly AttemptEnded[]): Call {
  return call(
    noteFailures(leaf),
    ...keyColumns(ends),
    plainArray(ends.map((end) => end.taskNo)),
    nullableArray(ends.map((end) => end.fingerprint)),
    nullableArray(ends.map((end) => end.quick?.count ?? null)),
    nullableArray(ends.map((end) => end.quick?.since ?? null)),
    ends.length,
  );
}

/**
 * A task that was cleared, and failed before another attempt began, opens its dead letter again. One that is open is written once:
 * anything else is a bug.
 */
const insertDeadLetters = statement(
  'insert_letters',
  `
  with hit as (
  insert into dead_letter as d (shard, run_id, task_no, attempt_no, uid, task_name, tenant_id, dag_id, version_no, reason, outcome,
    code, fingerprint, error, at)
  ${rowsOf(
    'shard smallint',
    'run_id bigint',
    'task_no integer',
    'attempt_no integer',
    'uid uuid',
    'task_name text',
    'tenant_id integer',
    'dag_id bigint',
    'version_no integer',
    'reason smallint',
    'outcome smallint',
    'code text',
    'fingerprint bigint',
    'error text',
    'at bigint',
  )}
  on conflict (shard, run_id, task_no, attempt_no) do update set state = ${OPEN}, reason = excluded.reason,
    outcome = excluded.outcome, code = excluded.code, fingerprint = excluded.fingerprint, error = excluded.error,
    at = excluded.at, closed_at = null, closed_by = null, new_uid = null where d.state <> ${OPEN}
  returning 1)
  select expect_rows('insert_letters', count(*), $16::integer) from hit`,
);

export function writeDeadLetters(deadLetters: readonly DeadLetterWritten[]): Call {
  return call(
    insertDeadLetters,
    ...keyColumns(deadLetters),
    plainArray(deadLetters.map((deadLetter) => deadLetter.taskNo)),
    plainArray(deadLetters.map((deadLetter) => deadLetter.attemptNo)),
    uuidArray(deadLetters.map((deadLetter) => deadLetter.uid)),
    textArray(deadLetters.map((deadLetter) => deadLetter.taskName)),
    plainArray(deadLetters.map((deadLetter) => deadLetter.tenantId)),
    plainArray(deadLetters.map((deadLetter) => deadLetter.dagId)),
    plainArray(deadLetters.map((deadLetter) => deadLetter.versionNo)),
    plainArray(deadLetters.map((deadLetter) => deadLetterReasons.code(deadLetter.reason))),
    plainArray(deadLetters.map((deadLetter) => attemptOutcomes.code(deadLetter.outcome))),
    textArray(deadLetters.map((deadLetter) => deadLetter.code)),
    plainArray(deadLetters.map((deadLetter) => deadLetter.fingerprint)),
    textArray(deadLetters.map((deadLetter) => deadLetter.error)),
    plainArray(deadLetters.map((deadLetter) => deadLetter.at)),
    deadLetters.length,
  );
}

/**
 * By primary key. One that is closed already stays as it is: of two that close it in batches one after the other the first has
 * it, and a task that is cleared may have no dead letter at all.
 */
const closeRows = statement(
  'close_letters',
  `
  update dead_letter d set state = u.state, closed_at = u.at, closed_by = u.actor, new_uid = u.new_uid
    from (${rowsOf(
      'shard smallint',
      'run_id bigint',
      'task_no integer',
      'attempt_no integer',
      'state smallint',
      'at bigint',
      'actor text',
      'new_uid uuid',
    )}) u
   where d.shard = u.shard and d.run_id = u.run_id and d.task_no = u.task_no and d.attempt_no = u.attempt_no and d.state = ${OPEN}`,
);

type Closed = Omit<DeadLetterClosed, 'kind'>;

/** A task that is tried again, or of which somebody says what it is, needs its dead letter no more. */
export function deadLettersUsed(cleared: readonly TaskCleared[], marked: readonly TaskMarked[]): Closed[] {
  const replayed = cleared.filter(({ from }) => from === 'failed' || from === 'expired');
  // One without a row before has never failed.
  const settled = marked.filter(({ state, firstOfTask }) => state !== 'failed' && !firstOfTask);
  return [
    ...replayed.map((task) => ({ ...task, as: 'replayed', newUid: null }) as const),
    ...settled.map((task) => ({ ...task, as: 'discarded', newUid: null }) as const),
  ];
}

export function closeDeadLetterRows(deadLetters: readonly Closed[]): Call {
  return call(
    closeRows,
    ...keyColumns(deadLetters),
    plainArray(deadLetters.map((deadLetter) => deadLetter.taskNo)),
    plainArray(deadLetters.map((deadLetter) => deadLetter.attemptNo)),
    plainArray(deadLetters.map((deadLetter) => deadLetterStates.code(deadLetter.as))),
    plainArray(deadLetters.map((deadLetter) => deadLetter.at)),
    textArray(deadLetters.map((deadLetter) => deadLetter.actor)),
    textArray(deadLetters.map((deadLetter) => deadLetter.newUid)),
  );
}
