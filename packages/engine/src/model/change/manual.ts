/** Manual actions on runs and tasks, and the retry policy of a run, which acts in the place of a person. */
import type { Actor, AttemptNo, Fence, RunId, TaskNo } from '../ids.ts';
import { type ChangeOf, defineChange, taskKey } from './define.ts';
import { f } from './fields.ts';
import type { ReplacedPayload } from './payload.ts';
import { taskFields } from './task-fields.ts';
import { WORDS, type WordOf } from './words.ts';

const runKey = ({ kind, runId }: { readonly kind: string; readonly runId: RunId }): string => `${runId} ${kind}`;

/** What the row of a cleared task said. `cancelled`: stopped while it ran; `stopped`: cancelled by itself. */
export type ClearedFrom = Exclude<WordOf<'taskStates'>, 'running' | 'returned' | 'cleared'>;

/**
 * Somebody wants another attempt of a task that has ended, or waits for its next one (I32). Older attempts stay as they were,
 * their tokens stay void, and so does its output (I36); tasks that were decided because of it wait for it again.
 */
const taskCleared = defineChange('TaskCleared', {
  no: 17,
  group: 'manual',
  rowKey: taskKey,
  fields: {
    ...taskFields,
    /** Its newest attempt, which has ended. */
    attemptNo: f.uint<AttemptNo>(),
    fence: f.uint<Fence>(),
    from: f.word<WordOf<'taskStates'>, ClearedFrom>(WORDS.taskStates),
    /** Attempts up to this one count against no budget any more (I39). */
    freshBudget: f.flag,
    actor: f.text<Actor>(),
    at: f.instant,
    /** As in `AttemptClaimed`. */
    notes: f.since(3.2, f.optional(f.text())),
    /** The same command clears another task after this one: what is downstream of them is decided once, with the last. */
    more: f.since(3.4, f.flag, false),
  },
  rows(change, rows: ManualRows) {
    rows.cleared.push(change);
  },
  event: ({ attemptNo: attempt, from: was, actor }) => ({ kind: 'task.cleared', details: { attempt, was, actor } }),
});

/**
 * Somebody says what has become of a task, whatever it was, and whether or not it ever had an attempt (I32). From here on it
 * has a row, and no attempt that runs; what is downstream of it is decided anew.
 */
const taskMarked = defineChange('TaskMarked', {
  no: 28,
  group: 'manual',
  rowKey: taskKey,
  fields: {
    ...taskFields,
    /** Its newest attempt, which has ended; 0 when there was none. */
    attemptNo: f.uint<AttemptNo>(),
    /** A number of its own, as a claim has one: all older tokens are void. */
    fence: f.uint<Fence>(),
    /** No row of the task exists yet. */
    firstOfTask: f.bit(1, f.flag),
    /** The run had no row of a task before: its `live_run` row is marked, so that a load asks for them. */
    firstOfRun: f.bit(2, f.flag),
    /** What the task is to have returned. */
    output: f.bit(4, f.trace),
    state: f.word(WORDS.marks),
    facts: f.nullable(f.text()),
    /** Why, in the words of the person who did it. */
    reason: f.nullable(f.text()),
    actor: f.text<Actor>(),
    at: f.instant,
  },
  rows(change, rows: ManualRows) {
    const { runId, taskNo, state, output: body } = change;
    rows.marked.push(change);
    if (state === 'succeeded') rows.replaced.push({ runId, taskNo, body });
  },
  event: ({ state, reason, actor }) => ({ kind: 'task.marked', details: { state, reason, actor } }),
});

/** Nothing new of a run, or of one of its tasks, is claimed; or it is again. What runs goes on, and so does time (I47). */
const pauseSet = defineChange('PauseSet', {
  no: 29,
  group: 'manual',
  rowKey: runKey,
  fields: {
    runId: f.run,
    /** Null: all of them. */
    taskNo: f.nullable(f.uint<TaskNo>()),
    paused: f.flag,
    /** When the pause ends by itself; null when somebody must end it. */
    until: f.nullable(f.instant),
    actor: f.text<Actor>(),
    at: f.instant,
  },
  rows(change, rows: ManualRows) {
    rows.pauses.push(change);
  },
  event({ taskNo, paused, until, actor }, show) {
    const details = { until: show(until), actor };
    if (taskNo === null) return { kind: paused ? 'run.paused' : 'run.resumed', details };
    return { kind: paused ? 'task.paused' : 'task.resumed', details };
  },
});

/** Somebody wants the run to go before others, or after them: its tasks that wait move to other lanes (I49). What runs goes on. */
const prioritySet = defineChange('PrioritySet', {
  no: 200,
  since: 10,
  group: 'manual',
  rowKey: runKey,
  fields: {
    runId: f.run,
    priority: f.word(WORDS.priorities),
    before: f.word(WORDS.priorities),
    actor: f.text<Actor>(),
    at: f.instant,
  },
  rows(change, rows: ManualRows) {
    rows.priorities.push(change);
  },
  event: ({ priority, before, actor }) => ({ kind: 'run.priority_set', details: { priority, before, actor } }),
});

/** A run that had ended continues, because one of its tasks is tried again (I32, I33). */
const runReopened = defineChange('RunReopened', {
  no: 18,
  group: 'manual',
  rowKey: runKey,
  fields: {
    runId: f.run,
    /** False while the dag has as many active runs as it may (I7). */
    admitted: f.flag,
    actor: f.text<Actor>(),
    at: f.instant,
    /** The number of this retry by the run's own policy, starting at 1; 0 when a person asked for it. */
    retryNo: f.since(3.4, f.uint(), 0),
    /** Its outcome stays: only closing tasks are to run again. */
    asClosing: f.since(3.5, f.bit(1, f.mark)),
    /** All that is kept of the run from here on; nothing where it is absent, what it was where its outcome stays. */
    notes: f.since(3.5, f.bit(2, f.optional(f.text()))),
  },
  rows(change, rows: ManualRows) {
    rows.reopened.push(change);
  },
  event: ({ admitted, asClosing: closing = false, retryNo, actor }) => ({
    kind: 'run.reopened',
    details: { admitted, closing, retry: retryNo === 0 ? null : retryNo, actor },
  }),
});

/** Somebody does not want to wait for what closes the run: its closing tasks are being ended too (I42). */
const runForced = defineChange('RunForced', {
  no: 21,
  group: 'manual',
  rowKey: runKey,
  fields: { runId: f.run, actor: f.text<Actor>(), at: f.instant },
  rows(change, rows: ManualRows) {
    rows.forced.push(change);
  },
  event: ({ actor }) => ({ kind: 'run.forced', details: { actor } }),
});

export interface ManualRows {
  readonly reopened: RunReopened[];
  readonly forced: RunForced[];
  readonly cleared: TaskCleared[];
  readonly marked: TaskMarked[];
  readonly pauses: PauseSet[];
  readonly priorities: PrioritySet[];
  readonly replaced: ReplacedPayload[];
}

export interface TaskCleared extends ChangeOf<typeof taskCleared> {}
export interface TaskMarked extends ChangeOf<typeof taskMarked> {}
export interface PauseSet extends ChangeOf<typeof pauseSet> {}
export interface PrioritySet extends ChangeOf<typeof prioritySet> {}
export interface RunReopened extends ChangeOf<typeof runReopened> {}
export interface RunForced extends ChangeOf<typeof runForced> {}
export type ManualChange = TaskCleared | TaskMarked | PauseSet | PrioritySet | RunReopened | RunForced;

export const manualChanges = [taskCleared, taskMarked, pauseSet, prioritySet, runReopened, runForced] as const;
