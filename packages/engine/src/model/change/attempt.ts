import { type Fence, NOBODY, type RunId, type TaskNo, type WorkerId } from '../ids.ts';
import type { Fingerprint } from '../task/fingerprint.ts';
import { type ChangeOf, defineChange, noRows, notTold, taskKey } from './define.ts';
import { f } from './fields.ts';
import type { PayloadRow, ReplacedPayload } from './payload.ts';
import { claimFields, taskFields } from './task-fields.ts';
import { WORDS, type WordOf } from './words.ts';

/** Also of a call of another dag: then the worker is `NOBODY`, and the task waits. */
const attemptClaimed = defineChange('AttemptClaimed', {
  no: 7,
  fields: {
    ...claimFields,
    workerId: f.text<WorkerId>(),
    /** No row of the task exists yet. */
    firstOfTask: f.bit(1, f.flag),
    /** The run had no claim before: its `live_run` row is marked, so that a load finds it first. */
    firstOfRun: f.bit(2, f.flag),
    at: f.instant,
    /** What is kept of the task from here on, as JSON; absent where that is as before. See `tables/task/task-notes.ts`. */
    notes: f.bit(4, f.optional(f.text())),
  },
  rows(change, rows: AttemptRows) {
    const run = rows.runOf(change.runId);
    const task = taskOf(run, change, change.firstOfTask);
    task.last = change;
    task.claim = change;
    task.notes = change.notes ?? task.notes;
    if (change.firstOfRun) run.claimed = true;
  },
  event: ({ attemptNo: attempt, workerId }) => ({
    kind: 'attempt.claimed',
    details: { attempt, worker: workerOf(workerId) },
  }),
});

export type ReturnReason = WordOf<'returnReasons'>;

/** A claim that never began goes back to ready; its fence is used up, its attempt number is not (I26). */
const claimReturned = defineChange('ClaimReturned', {
  no: 8,
  fields: {
    ...taskFields,
    fence: f.uint<Fence>(),
    reason: f.word(WORDS.returnReasons),
    at: f.instant,
  },
  rows(change, rows: AttemptRows) {
    taskOf(rows.runOf(change.runId), change, false).last = change;
  },
  event: ({ reason }) => ({ kind: 'attempt.returned', details: { reason } }),
});

type StateAfterEnd = Extract<WordOf<'taskStates'>, 'retrying' | 'succeeded' | 'failed' | 'cancelled'>;

const attemptEnded = defineChange('AttemptEnded', {
  no: 9,
  fields: {
    ...claimFields,
    workerId: f.text<WorkerId>(),
    outcome: f.word(WORDS.attemptOutcomes),
    /** What the task is after it. */
    taskState: f.word<WordOf<'taskStates'>, StateAfterEnd>(WORDS.taskStates),
    claimedAt: f.instant,
    /** By the worker's clock; null when it never said. */
    startedAt: f.nullable(f.instant),
    endedAt: f.instant,
    /** When the next attempt may start; null when the task has ended with this one. */
    retryAt: f.nullable(f.instant),
    /** How many of the task's attempts, this one included, were lost with their worker. */
    lostCount: f.uint(),
    output: f.bit(1, f.trace),
    error: f.bit(2, f.trace),
    /** What decisions need of the output, as JSON. Kept in memory and in the journal; the output is not. */
    facts: f.bit(4, f.nullable(f.text())),
    /** For people and retry policies: `exit:137`, `http:503`, `error:TypeError`; null when nobody said. */
    code: f.bit(8, f.nullable(f.text())),
    /** As in `AttemptClaimed`. */
    notes: f.bit(16, f.optional(f.text())),
    /** The attempt began beside another one, which has ended since. */
    speculative: f.bit(32, f.mark),
    /** What failures of one cause have in common; null for a success. The task keeps that of its last failure. */
    fingerprint: f.since(3.3, f.uintOrNull<Fingerprint>()),
    /** How many attempts in a row, this one the last of them, failed at once; null when it did not. */
    quick: f.onlyWith('fingerprint', f.nullable(f.record({ count: f.uint(), since: f.instant }))),
  },
  rows(change, rows: AttemptRows) {
    const { runId, taskNo, output } = change;
    const task = taskOf(rows.runOf(runId), change, false);
    task.last = change;
    task.end = change;
    task.notes = change.notes ?? task.notes;
    if (change.fingerprint !== null) rows.failures.set(taskKey(change), change);
    if (change.retryAt !== null) rows.supersededAttempts.push(change);
    // The output of the attempt that succeeded, and of no other (I36).
    if (change.outcome !== 'succeeded') return;
    // Before the first claim of a task there is no output; before a later one somebody may have cleared an earlier success.
    if (change.fence > 1) rows.replaced.push({ runId, taskNo, body: output });
    else if (output !== null) rows.payloads.push({ runId, taskNo, body: output });
  },
  event(change, show) {
    const { attemptNo: attempt, workerId, outcome, code, taskState: state, speculative = false } = change;
    const times = { startedAt: show(change.startedAt), retryAt: show(change.retryAt) };
    const mark = speculative ? { speculative } : {};
    const details = { attempt, worker: workerOf(workerId), outcome, code, state, ...times, ...mark };
    return { kind: 'attempt.ended', details };
  },
});

/**
 * User code asked for its progress to be kept: the next attempt of the task gets it. The number grows within an attempt, so
 * that a late request is told from a new one.
 */
const checkpointSaved = defineChange('CheckpointSaved', {
  no: 19,
  fields: {
    ...taskFields,
    fence: f.uint<Fence>(),
    no: f.uint(),
    /** JSON. Like outputs it goes to the store alone. */
    value: f.omitted,
    at: f.instant,
  },
  rows(change, rows: AttemptRows) {
    rows.checkpoints.set(taskKey(change), change);
  },
  event: notTold,
});

/**
 * An attempt asked whether the task is still its own, and it was. Nothing changes by it: the answer must rest on a commit,
 * which an owner that lost its shard can't make (I14).
 */
const claimAsserted = defineChange('ClaimAsserted', {
  no: 20,
  fields: { ...taskFields, fence: f.uint<Fence>(), at: f.instant },
  rows: noRows,
  event: notTold,
});

/** What an attempt used, in the commit of its end and before it. Nothing is decided by it: it is for people. */
const attemptMeasured = defineChange('AttemptMeasured', {
  no: 100,
  since: 8,
  fields: {
    ...claimFields,
    /** Time of the processor; null when it was not measured. */
    cpuMs: f.nullable(f.uint()),
    /** The most memory that it had at a time; null when it was not measured. */
    peakBytes: f.nullable(f.uint()),
    at: f.instant,
  },
  rows(change, rows: AttemptRows) {
    rows.measured.push(change);
  },
  event: notTold,
});

/** What became of one task in a batch. The last of the three decides how its row looks. */
export interface TaskFold {
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly isNew: boolean;
  claim: AttemptClaimed | null;
  /** The last end in this batch: it knows the count of lost attempts also after another claim. */
  end: AttemptEnded | null;
  /** As JSON, when a change of this batch has altered them. */
  notes: string | null;
  last: AttemptClaimed | ClaimReturned | AttemptEnded;
}

/** What became of the tasks of one run in a batch. */
export interface RunTasksFold {
  /** The run has its first row beside its own. */
  claimed: boolean;
  tasks: Map<TaskNo, TaskFold> | null;
}

/** An attempt that has ended, and that the row of its task does not show. */
export type AttemptRow = Pick<
  AttemptEnded,
  | 'runId'
  | 'taskNo'
  | 'attemptNo'
  | 'fence'
  | 'workerId'
  | 'outcome'
  | 'claimedAt'
  | 'startedAt'
  | 'endedAt'
  | 'retryAt'
  | 'error'
  | 'code'
  | 'fingerprint'
> & { readonly speculative?: boolean };

export interface AttemptRows {
  runOf(runId: RunId): RunTasksFold;
  /** Those that another attempt follows, or goes on beside. */
  readonly supersededAttempts: AttemptRow[];
  readonly measured: AttemptMeasured[];
  readonly payloads: PayloadRow[];
  /** Outputs of tasks that may have had one before. */
  readonly replaced: ReplacedPayload[];
  /** The last failure of each task: written beside the row, so that what succeeds pays nothing for it. */
  readonly failures: Map<string, AttemptEnded>;
  /** The last one of each task. */
  readonly checkpoints: Map<string, CheckpointSaved>;
}

function taskOf(run: RunTasksFold, change: TaskFold['last'], isNew: boolean): TaskFold {
  run.tasks ??= new Map();
  let task = run.tasks.get(change.taskNo);
  if (task === undefined) {
    const { runId, taskNo } = change;
    task = { runId, taskNo, isNew, claim: null, end: null, notes: null, last: change };
    run.tasks.set(taskNo, task);
  }
  return task;
}

/** A task that runs another dag has no worker. */
export function workerOf(workerId: WorkerId): string | null {
  return workerId === NOBODY ? null : workerId;
}

export interface AttemptClaimed extends ChangeOf<typeof attemptClaimed> {}
export interface ClaimReturned extends ChangeOf<typeof claimReturned> {}
export interface AttemptEnded extends ChangeOf<typeof attemptEnded> {}
export interface CheckpointSaved extends ChangeOf<typeof checkpointSaved> {}
export interface ClaimAsserted extends ChangeOf<typeof claimAsserted> {}
export interface AttemptMeasured extends ChangeOf<typeof attemptMeasured> {}
export type AttemptChange =
  | AttemptClaimed
  | ClaimReturned
  | AttemptEnded
  | CheckpointSaved
  | ClaimAsserted
  | AttemptMeasured;

export const attemptChanges = [
  attemptClaimed,
  claimReturned,
  attemptEnded,
  checkpointSaved,
  claimAsserted,
  attemptMeasured,
] as const;
