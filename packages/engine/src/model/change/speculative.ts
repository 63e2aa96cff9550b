/** A task that takes far longer than its siblings has a speculative attempt beside the first: see `decide/speculative/` (I23). */
import type { AttemptNo, Fence, Instant, RunId, TaskNo, WorkerId } from '../ids.ts';
import { type AttemptRow, workerOf } from './attempt.ts';
import type { TaskNote } from './deadline.ts';
import { type ChangeOf, defineChange, type ShowInstant, taskKey } from './define.ts';
import { f, type RecordOf } from './fields.ts';
import { WORDS } from './words.ts';

const speculativeClaimed = defineChange('SpeculativeClaimed', {
  no: 37,
  group: 'speculative',
  rowKey: taskKey,
  fields: {
    runId: f.run,
    taskNo: f.uint<TaskNo>(),
    attemptNo: f.uint<AttemptNo>(),
    fence: f.uint<Fence>(),
    workerId: f.text<WorkerId>(),
    /** The speculative attempt is in the notes of the task, and nowhere else. */
    notes: f.text(),
    at: f.instant,
  },
  rows(change, rows: SpeculativeRows) {
    note(rows, change, change.at);
  },
  event: ({ attemptNo: attempt, workerId }) => ({
    kind: 'attempt.claimed',
    details: { attempt, worker: workerOf(workerId), speculative: true },
  }),
});

/** The speculative attempt never began; the first goes on (I26). */
const speculativeReturned = defineChange('SpeculativeReturned', {
  no: 38,
  group: 'speculative',
  rowKey: taskKey,
  fields: {
    runId: f.run,
    taskNo: f.uint<TaskNo>(),
    fence: f.uint<Fence>(),
    reason: f.word(WORDS.returnReasons),
    notes: f.text(),
    at: f.instant,
  },
  rows(change, rows: SpeculativeRows) {
    note(rows, change, change.at);
  },
  event: ({ reason }) => ({ kind: 'attempt.returned', details: { reason, speculative: true } }),
});

const endFields = {
  runId: f.run,
  taskNo: f.uint<TaskNo>(),
  attemptNo: f.uint<AttemptNo>(),
  fence: f.uint<Fence>(),
  workerId: f.text<WorkerId>(),
  outcome: f.word(WORDS.attemptOutcomes),
  claimedAt: f.instant,
  startedAt: f.nullable(f.instant),
  endedAt: f.instant,
  error: f.trace,
  code: f.nullable(f.text()),
  notes: f.text(),
} as const;

/** The speculative attempt has ended, and decides nothing: the first goes on, or ends with the change that follows. */
const speculativeEnded = defineChange('SpeculativeEnded', {
  no: 39,
  group: 'speculative',
  rowKey: taskKey,
  fields: endFields,
  rows(change, rows: SpeculativeRows) {
    note(rows, change, change.endedAt);
    supersede(rows, change, true);
  },
  event: (change, show) => ({ kind: 'attempt.ended', details: endDetails(change, show, true) }),
});

/** The first attempt has ended, and decides nothing: the second is the task's running attempt from here on. */
const speculativeTookOver = defineChange('SpeculativeTookOver', {
  no: 40,
  group: 'speculative',
  rowKey: taskKey,
  fields: {
    ...endFields,
    /** What has ended had once taken over itself. */
    speculative: f.mark,
    next: f.record({
      attemptNo: f.uint<AttemptNo>(),
      fence: f.uint<Fence>(),
      workerId: f.text<WorkerId>(),
      claimedAt: f.instant,
    }),
  },
  rows(change, rows: SpeculativeRows) {
    rows.takenOver.push(change);
    supersede(rows, change, change.speculative === true);
  },
  event: (change, show) => ({
    kind: 'attempt.ended',
    details: endDetails(change, show, change.speculative === true),
  }),
});

export interface SpeculativeRows {
  readonly taskNotes: Map<string, TaskNote>;
  readonly supersededAttempts: AttemptRow[];
  /** Where the speculative attempt has taken the place of the first. */
  readonly takenOver: SpeculativeTookOver[];
}

type End = RecordOf<typeof endFields>;

function note(
  { taskNotes }: SpeculativeRows,
  { runId, taskNo, notes }: { readonly runId: RunId; readonly taskNo: TaskNo; readonly notes: string },
  at: Instant,
): void {
  taskNotes.set(taskKey({ runId, taskNo }), { runId, taskNo, isNew: false, expiredAfter: null, notes, at });
}

function supersede({ supersededAttempts }: SpeculativeRows, end: End, speculative: boolean): void {
  // Nothing was waited for.
  supersededAttempts.push({ ...end, retryAt: end.endedAt, fingerprint: null, speculative });
}

function endDetails(end: End, show: ShowInstant, speculative: boolean) {
  const { attemptNo: attempt, workerId, outcome, code } = end;
  const times = { startedAt: show(end.startedAt), retryAt: null };
  return { attempt, worker: workerOf(workerId), outcome, code, state: 'running', ...times, speculative };
}

export interface SpeculativeClaimed extends ChangeOf<typeof speculativeClaimed> {}
export interface SpeculativeReturned extends ChangeOf<typeof speculativeReturned> {}
export interface SpeculativeEnded extends ChangeOf<typeof speculativeEnded> {}
export interface SpeculativeTookOver extends ChangeOf<typeof speculativeTookOver> {}
export type SpeculativeChange = SpeculativeClaimed | SpeculativeReturned | SpeculativeEnded | SpeculativeTookOver;

export const speculativeChanges = [
  speculativeClaimed,
  speculativeReturned,
  speculativeEnded,
  speculativeTookOver,
] as const;
