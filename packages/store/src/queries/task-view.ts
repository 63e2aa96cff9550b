/** The tasks of a run that have a row, with their attempts: all of them, a selection, or an outline of all. */
import {
  type AttemptNo,
  type AttemptOutcome,
  type Fence,
  type Fingerprint,
  type Instant,
  type ReturnReason,
  readNotes,
  type StoredTask,
  type TaskNo,
  type Usage,
  type WorkerId,
} from '@signalbox/engine';
import type { Row } from '../batch.ts';
import { attemptOutcomes, returnReasons, taskStates } from '../codes.ts';
import { type Leaf, readable } from '../leaf.ts';
import { leafStatement } from '../statement.ts';
import { decodeNullableText, parseIntegers } from '../text.ts';
import { instant } from './run-view.ts';

export interface AttemptView {
  readonly taskNo: TaskNo;
  readonly attemptNo: AttemptNo;
  readonly fence: Fence;
  readonly workerId: WorkerId;
  readonly outcome: AttemptOutcome | null;
  readonly claimedAt: Instant;
  readonly startedAt: Instant | null;
  readonly endedAt: Instant | null;
  readonly retryAt: Instant | null;
  readonly error: string | null;
  /** What the failure was, in a word. */
  readonly code: string | null;
  /** It began beside another attempt that took far longer than its siblings. */
  readonly speculative: boolean;
  /** Null: it was not measured. */
  readonly used: Usage | null;
}

/** A task's row shows its newest attempt. */
export interface TaskView extends AttemptView {
  readonly state: StoredTask['state'];
  readonly lostCount: number;
  readonly returnReason: ReturnReason | null;
  readonly returnedAt: Instant | null;
  readonly hasOutput: boolean;
  /** False for one that was marked by hand after its last attempt, or before any: the row shows no attempt. */
  readonly hasAttempt: boolean;
  /** Who last cleared it and who last marked it. */
  readonly clearedAt: Instant | null;
  readonly clearedBy: string | null;
  readonly markedAt: Instant | null;
  readonly markedBy: string | null;
  readonly facts: string | null;
  /** What the engine keeps of it: JSON. */
  readonly notes: string | null;
  /** The fingerprint of its last failure. */
  readonly fingerprint: Fingerprint | null;
}

export type OutlinedTask = Pick<TaskView, 'taskNo' | 'attemptNo' | 'state' | 'facts' | 'notes'>;

const ATTEMPT_COLUMNS = `a.task_no, a.attempt_no, a.fence, a.worker_id, a.outcome, a.claimed_at, a.started_at, a.ended_at,
    a.retry_at, a.error, a.code`;
const ATTEMPT_COUNT = 11;

/**
 * Whether it has an output is looked up task by task, by the primary key. As a join of two tables that both have the run's ten
 * thousand rows it is planned by what is known of the partition, which is nothing in its first minutes: each row with each.
 */
const taskColumns = (leaf: Leaf) => `${ATTEMPT_COLUMNS}, a.state, a.lost_count, a.return_reason, a.returned_at,
    exists (select from ${readable('payload', leaf)} p where p.shard = a.shard and p.run_id = a.run_id and p.task_no = a.task_no),
    a.facts, a.notes, a.fingerprint, a.cleared_at, a.cleared_by, a.marked_at, a.marked_by`;

export const selectTasks = leafStatement(
  'view_tasks',
  (leaf) => `
  select ${taskColumns(leaf)} from ${readable('task', leaf)} a
   where a.shard = $1::smallint and a.run_id = $2::bigint order by a.task_no`,
);

/** The row of the task shows no attempt: the newest one has a row of its own. */
export const NO_ATTEMPT = `(t.outcome is null and t.state not in (${taskStates.code('running')}, ${taskStates.code('returned')}))`;
/** Column by column: a run may have a hundred thousand. */
export const selectOutline = leafStatement(
  'view_outline',
  (leaf) => `
  select array_agg(task_no)::text, array_agg(attempt_no)::text, array_agg(state)::text
    from ${readable('task', leaf)} where shard = $1::smallint and run_id = $2::bigint`,
);
/** The notes that states are derived from: hooks that are due, attempts that were not retried, and tasks that expired. */
export const TELLING = `(notes like '%"slowAttempts":%' or notes like '%"doubled":%' or notes like '%"expired":%')`;
export const selectFacts = leafStatement(
  'view_facts',
  (leaf) => `
  select task_no, facts, case when ${TELLING} then notes end from ${readable('task', leaf)}
   where shard = $1::smallint and run_id = $2::bigint and (facts is not null or ${TELLING})`,
);

/** Leans on the primary keys (shard, run_id, task_no …), once for each task: as for `selectOutputs`, `offset 0` keeps it so. */
export const selectSomeTasks = leafStatement(
  'view_some_tasks',
  (leaf) => `
  select ${taskColumns(leaf)} from unnest($3::integer[]) as u (no)
    cross join lateral (select * from ${readable('task', leaf)} b
      where b.shard = $1::smallint and b.run_id = $2::bigint and b.task_no = u.no offset 0) a
   order by a.task_no`,
);
export const selectSomeAttempts = leafStatement(
  'view_some_attempts',
  (leaf) => `
  select ${ATTEMPT_COLUMNS}, a.speculative from unnest($3::integer[]) as u (no)
    cross join lateral (select outcome, state, attempt_no from ${readable('task', leaf)} b
      where b.shard = $1::smallint and b.run_id = $2::bigint and b.task_no = u.no offset 0) t
    cross join lateral (select * from ${readable('attempt', leaf)} c
      where c.shard = $1::smallint and c.run_id = $2::bigint and c.task_no = u.no offset 0) a
   where a.attempt_no <> t.attempt_no or ${NO_ATTEMPT}
   order by a.task_no, a.attempt_no`,
);

export const selectAttempts = leafStatement(
  'view_attempts',
  (leaf) => `
  select ${ATTEMPT_COLUMNS}, a.speculative from ${readable('attempt', leaf)} a
    cross join lateral (select outcome, state, attempt_no from ${readable('task', leaf)} b
      where b.shard = a.shard and b.run_id = a.run_id and b.task_no = a.task_no offset 0) t
   where a.shard = $1::smallint and a.run_id = $2::bigint and (a.attempt_no <> t.attempt_no or ${NO_ATTEMPT})
   order by a.task_no, a.attempt_no`,
);

/** What attempts used, of all tasks or of some: leans on the primary key (shard, run_id, task_no, fence). */
export const selectUsage = leafStatement(
  'view_usage',
  (leaf) => `
  select task_no, fence, cpu_ms, peak_bytes from ${readable('attempt_usage', leaf)}
   where shard = $1::smallint and run_id = $2::bigint and ($3::integer[] is null or task_no = any ($3::integer[]))`,
);

export type UsageOf = (attempt: Pick<AttemptView, 'taskNo' | 'fence'>) => Usage | null;

export function parseUsage(rows: readonly Row[]): UsageOf {
  const number = (text: string | null | undefined) => (text == null ? null : Number(text));
  const known = new Map(
    rows.map(([taskNo, fence, cpuMs, peakBytes]) => [
      `${taskNo}/${fence}`,
      { cpuMs: number(cpuMs), peakBytes: number(peakBytes) },
    ]),
  );
  return ({ taskNo, fence }) => known.get(`${taskNo}/${fence}`) ?? null;
}

export function parseOutline(columns: readonly Row[], facts: readonly Row[]): OutlinedTask[] {
  const texts = new Map(facts.map(([no, text, notes]) => [Number(no), [text ?? null, notes ?? null] as const]));
  const [nos, attempts, states] = [0, 1, 2].map((at) => parseIntegers(columns[0]?.[at]));
  return (nos ?? []).map((no, i) => ({
    taskNo: no as TaskNo,
    attemptNo: (attempts?.[i] ?? 0) as AttemptNo,
    state: taskStates.word(states?.[i] ?? 0),
    facts: texts.get(no)?.[0] ?? null,
    notes: texts.get(no)?.[1] ?? null,
  }));
}

function parseAttempt(row: Row, usageOf: UsageOf): AttemptView {
  const [taskNo, attemptNo, fence, workerId, outcome, claimedAt, startedAt, endedAt, retryAt, error, code] = row;
  const key = { taskNo: Number(taskNo) as TaskNo, fence: Number(fence) as Fence };
  return {
    ...key,
    attemptNo: Number(attemptNo) as AttemptNo,
    workerId: workerId as WorkerId,
    outcome: outcome === null || outcome === undefined ? null : attemptOutcomes.word(Number(outcome)),
    claimedAt: Number(claimedAt) as Instant,
    startedAt: instant(startedAt),
    endedAt: instant(endedAt),
    retryAt: instant(retryAt),
    error: decodeNullableText(error ?? null),
    code: decodeNullableText(code ?? null),
    speculative: row[ATTEMPT_COUNT] === 't',
    used: usageOf(key),
  };
}

/** Attempts with rows of their own; and those that run beside another, which are in the notes of their tasks. */
export function othersOf(tasks: readonly TaskView[], rows: readonly Row[], usageOf: UsageOf): AttemptView[] {
  const ended = {
    outcome: null,
    startedAt: null,
    endedAt: null,
    retryAt: null,
    error: null,
    code: null,
    used: null,
  } as const;
  const running = tasks.flatMap(({ taskNo, state, notes }) => {
    const { speculativeAttempt } = state === 'running' ? readNotes(notes) : {};
    if (speculativeAttempt === undefined || speculativeAttempt.over !== undefined) return [];
    const { attemptNo, fence, workerId, claimedAt } = speculativeAttempt;
    return [{ taskNo, attemptNo, fence, workerId, claimedAt, ...ended, speculative: true }];
  });
  const all = rows.map((row) => parseAttempt(row, usageOf));
  if (running.length === 0) return all;
  return [...all, ...running].sort((a, b) => a.taskNo - b.taskNo || a.attemptNo - b.attemptNo);
}

export function parseTask(row: Row, usageOf: UsageOf): TaskView {
  const [state, lostCount, returnReason, returnedAt, hasOutput, facts, notes, fingerprint, ...byHand] =
    row.slice(ATTEMPT_COUNT);
  const [clearedAt, clearedBy, markedAt, markedBy] = byHand;
  const attempt = parseAttempt(row.slice(0, ATTEMPT_COUNT), usageOf);
  const kept = readNotes(notes);
  const word = taskStates.word(Number(state));
  return {
    ...attempt,
    speculative: kept.speculative === attempt.attemptNo,
    state: word,
    hasAttempt: attempt.outcome !== null || word === 'running' || word === 'returned',
    clearedAt: instant(clearedAt),
    clearedBy: decodeNullableText(clearedBy ?? null),
    markedAt: instant(markedAt),
    markedBy: decodeNullableText(markedBy ?? null),
    lostCount: Number(lostCount),
    returnReason: returnReason === null || returnReason === undefined ? null : returnReasons.word(Number(returnReason)),
    returnedAt: instant(returnedAt),
    hasOutput: hasOutput === 't',
    facts: facts ?? null,
    notes: notes ?? null,
    fingerprint: fingerprint === null || fingerprint === undefined ? null : (Number(fingerprint) as Fingerprint),
  };
}
