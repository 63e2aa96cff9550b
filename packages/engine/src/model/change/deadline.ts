/** Tasks and runs that wait or run for too long. */
import type { AttemptNo, Instant, RunId, TaskNo } from '../ids.ts';
import { type ChangeOf, defineChange, notTold, taskKey } from './define.ts';
import { f } from './fields.ts';
import type { RunNote } from './run.ts';
import { claimFields, taskFields } from './task-fields.ts';
import { WORDS } from './words.ts';

/**
 * The task waits for a slot, and may not wait for ever: since when is stored in its notes. `isNew`: the task gets its row by
 * this, before its first claim; such a row says no more than that of a task that was cleared.
 */
const taskQueued = defineChange('TaskQueued', {
  no: 30,
  group: 'notes',
  fields: { ...taskFields, isNew: f.flag, notes: f.text(), at: f.instant },
  rows(change, rows: DeadlineRows) {
    noteTask(rows, change, { isNew: change.isNew });
  },
  event: notTold,
});

/** The task has failed while no attempt of it ran: it waited in its queue, or took in all, for longer than it may (I41). */
const taskExpired = defineChange('TaskExpired', {
  no: 31,
  group: 'notes',
  fields: {
    ...taskFields,
    /** Its newest attempt that began; 0 when there was none. */
    attemptNo: f.uint<AttemptNo>(),
    reason: f.word(WORDS.expiryReasons),
    notes: f.text(),
    at: f.instant,
  },
  rows(change, rows: DeadlineRows) {
    noteTask(rows, change, { expiredAfter: change.attemptNo });
  },
  event: ({ reason }) => ({ kind: 'task.expired', details: { reason } }),
});

/** The running attempt takes longer than usual. Told once per attempt. */
const taskSlow = defineChange('TaskSlow', {
  no: 32,
  group: 'notes',
  fields: {
    ...claimFields,
    notes: f.text(),
    at: f.instant,
  },
  rows(change, rows: DeadlineRows) {
    noteTask(rows, change, {});
  },
  event: ({ attemptNo: attempt }) => ({ kind: 'task.slow', details: { attempt } }),
});

/** The running attempt has asked for more time, and got it. */
const attemptExtended = defineChange('AttemptExtended', {
  no: 33,
  group: 'notes',
  fields: {
    ...claimFields,
    deadlineAt: f.instant,
    notes: f.text(),
    at: f.instant,
  },
  rows(change, rows: DeadlineRows) {
    noteTask(rows, change, {});
  },
  event: ({ attemptNo: attempt, deadlineAt }, show) => ({
    kind: 'attempt.extended',
    details: { attempt, deadlineAt: show(deadlineAt) },
  }),
});

const runNoteFields = {
  runId: f.run,
  /** What is kept of the run from here on, as JSON: see `tables/timer/run-timers.ts`. */
  notes: f.text(),
  at: f.instant,
} as const;

/** The run takes longer than usual. Told once. */
const runSlow = defineChange('RunSlow', {
  no: 34,
  group: 'notes',
  fields: runNoteFields,
  rows({ runId, notes }, { runNotes }: DeadlineRows) {
    runNotes.set(runId, { runId, notes });
  },
  event: () => ({ kind: 'run.slow', details: {} }),
});

/** The run took longer than it may; that it closes as failed comes next. */
const runTimedOut = defineChange('RunTimedOut', {
  no: 35,
  group: 'notes',
  fields: runNoteFields,
  rows({ runId, notes }, { runNotes }: DeadlineRows) {
    runNotes.set(runId, { runId, notes });
  },
  event: () => ({ kind: 'run.timed_out', details: {} }),
});

/** The last notes of a task in a batch. */
export interface TaskNote {
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly isNew: boolean;
  /** Of a task that expired: its newest attempt that began. */
  readonly expiredAfter: AttemptNo | null;
  readonly notes: string;
  /** Of the first. */
  readonly at: Instant;
}

export interface DeadlineRows {
  readonly taskNotes: Map<string, TaskNote>;
  readonly runNotes: Map<RunId, RunNote>;
}

function noteTask(
  { taskNotes }: DeadlineRows,
  { runId, taskNo, notes, at }: Pick<TaskNote, 'runId' | 'taskNo' | 'notes' | 'at'>,
  { isNew = false, expiredAfter = null }: Partial<Pick<TaskNote, 'isNew' | 'expiredAfter'>>,
): void {
  const key = taskKey({ runId, taskNo });
  const before = taskNotes.get(key);
  taskNotes.set(key, {
    runId,
    taskNo,
    isNew: before?.isNew ?? isNew,
    expiredAfter: expiredAfter ?? before?.expiredAfter ?? null,
    notes,
    at: before?.at ?? at,
  });
}

export interface TaskQueued extends ChangeOf<typeof taskQueued> {}
export interface TaskExpired extends ChangeOf<typeof taskExpired> {}
export interface TaskSlow extends ChangeOf<typeof taskSlow> {}
export interface AttemptExtended extends ChangeOf<typeof attemptExtended> {}
export interface RunSlow extends ChangeOf<typeof runSlow> {}
export interface RunTimedOut extends ChangeOf<typeof runTimedOut> {}
export type DeadlineChange = TaskQueued | TaskExpired | TaskSlow | AttemptExtended | RunSlow | RunTimedOut;

export const deadlineChanges = [taskQueued, taskExpired, taskSlow, attemptExtended, runSlow, runTimedOut] as const;
