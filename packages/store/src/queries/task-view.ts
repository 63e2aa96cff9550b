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

export const ATTEMPT_COLUMNS = `a.task_no, a.attempt_no, a.fence, a.worker_id, a.outcome, a.claimed_at, a.started_at, a.ended_at,
    a.retry_at, a.error, a.code`;
const ATTEMPT_COUNT = 11;

/**
 * Whether it has an output is looked up task by task, by the primary key. As a join of two tables that both have the run's ten
 * thousand rows it is planned by what is known of the partition, which is nothing in its first minutes: each row with each.
 */
export const taskColumns = (leaf: Leaf) => `${ATTEMPT_COLUMNS}, a.state, a.lost_count, a.return_reason, a.returned_at,
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

export type UsageOf = (taskNo: TaskNo, fence: Fence) => Usage | null;

export function parseUsage(rows: readonly Row[]): UsageOf {
  if (rows.length === 0) return () => null;
  const known = new Map(
    rows.map(([taskNo, fence, cpuMs, peakBytes]) => [
      `${taskNo}/${fence}`,
      { cpuMs: number(cpuMs), peakBytes: number(peakBytes) },
    ]),
  );
  return (taskNo, fence) => known.get(`${taskNo}/${fence}`) ?? null;
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

const number = (text: string | null | undefined): number | null =>
  text === null || text === undefined ? null : Number(text);
const text = (stored: string | null | undefined): string | null => decodeNullableText(stored ?? null);

/** By place, and in one literal: taking rows apart by patterns and joining objects took twice as long, for runs of 10,000 tasks. */
function parseAttempt(row: Row, usageOf: UsageOf): AttemptView {
  const taskNo = Number(row[0]) as TaskNo;
  const fence = Number(row[2]) as Fence;
  const outcome = number(row[4]);
  return {
    taskNo,
    fence,
    attemptNo: Number(row[1]) as AttemptNo,
    workerId: row[3] as WorkerId,
    outcome: outcome === null ? null : attemptOutcomes.word(outcome),
    claimedAt: Number(row[5]) as Instant,
    startedAt: instant(row[6]),
    endedAt: instant(row[7]),
    retryAt: instant(row[8]),
    error: text(row[9]),
    code: text(row[10]),
    speculative: row[ATTEMPT_COUNT] === 't',
    used: usageOf(taskNo, fence),
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
  const taskNo = Number(row[0]) as TaskNo;
  const fence = Number(row[2]) as Fence;
  const attemptNo = Number(row[1]) as AttemptNo;
  const outcome = number(row[4]);
  const state = taskStates.word(Number(row[ATTEMPT_COUNT]));
  const returnReason = number(row[ATTEMPT_COUNT + 2]);
  const notes = row[ATTEMPT_COUNT + 6] ?? null;
  return {
    taskNo,
    fence,
    attemptNo,
    workerId: row[3] as WorkerId,
    outcome: outcome === null ? null : attemptOutcomes.word(outcome),
    claimedAt: Number(row[5]) as Instant,
    startedAt: instant(row[6]),
    endedAt: instant(row[7]),
    retryAt: instant(row[8]),
    error: text(row[9]),
    code: text(row[10]),
    speculative: notes !== null && readNotes(notes).speculative === attemptNo,
    used: usageOf(taskNo, fence),
    state,
    hasAttempt: outcome !== null || state === 'running' || state === 'returned',
    lostCount: Number(row[ATTEMPT_COUNT + 1]),
    returnReason: returnReason === null ? null : returnReasons.word(returnReason),
    returnedAt: instant(row[ATTEMPT_COUNT + 3]),
    hasOutput: row[ATTEMPT_COUNT + 4] === 't',
    facts: row[ATTEMPT_COUNT + 5] ?? null,
    notes,
    fingerprint: number(row[ATTEMPT_COUNT + 7]) as Fingerprint | null,
    clearedAt: instant(row[ATTEMPT_COUNT + 8]),
    clearedBy: text(row[ATTEMPT_COUNT + 9]),
    markedAt: instant(row[ATTEMPT_COUNT + 10]),
    markedBy: text(row[ATTEMPT_COUNT + 11]),
  };
}
