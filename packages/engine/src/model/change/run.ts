/** The life of a run. Its tasks are in `attempt.ts`, manual actions in `manual.ts`. */

import type { AssetSource } from '../asset.ts';
import type { ParentRef } from '../command.ts';
import type { Actor, BackfillUid, DagId, RunId, RunUid, ScheduleNo, TenantId, VersionNo } from '../ids.ts';
import { notesCreated } from '../run/run-notes.ts';
import type { RequiresNote } from '../schedule/requirement.ts';
import type { RunTasksFold } from './attempt.ts';
import { type ChangeOf, defineChange, notTold } from './define.ts';
import { f } from './fields.ts';
import type { PayloadRow } from './payload.ts';
import { WORDS } from './words.ts';

/** The journal format since which runs say so themselves. Before, their schedules did. */
export const WAITS_SINCE = 12;

const runCreated = defineChange('RunCreated', {
  no: 4,
  fields: {
    runId: f.run,
    uid: f.uuid<RunUid>(),
    tenantId: f.uint<TenantId>(),
    dagId: f.uint<DagId>(),
    versionNo: f.uint<VersionNo>(),
    priority: f.word(WORDS.priorities),
    cause: f.word(WORDS.causes),
    /** The window that the run was created for; null for a run on demand. */
    firesAt: f.nullable(f.instant),
    /** False while the dag has as many active runs as it may (I7). */
    admitted: f.flag,
    params: f.trace,
    actor: f.text<Actor>(),
    at: f.instant,
    /** What conditions need of the params, as JSON. Kept in memory and in the journal; the params are not. */
    facts: f.since(3, f.nullable(f.text())),
    /** The call that made the run. */
    parent: f.since(3.1, f.optional(f.json<ParentRef>())),
    /** The run goes up to this task or group only. */
    until: f.since(4, f.optional(f.text())),
    /** The window before: the data interval of the run goes from there to its own. */
    windowStart: f.since(5, f.optional(f.instant)),
    /** The backfill that made the run. */
    backfill: f.since(5, f.optional(f.uuid<BackfillUid>())),
    /** The schedule that `firesAt` is a window of; number 1 where it is absent. */
    scheduleNo: f.since(5, f.optional(f.uint<ScheduleNo>())),
    /** The time that a delayed run was asked for. */
    dueAt: f.since(6, f.optional(f.instant)),
    /** What its window requires: it is not admitted before that was looked at. */
    requires: f.since(6, f.optional(f.json<RequiresNote>())),
    /** The assets that it was created by. */
    assets: f.since(7, f.optional(f.json<readonly AssetSource[]>())),
    /** Its key, where the dag limits its runs by key. */
    key: f.since(9, f.optional(f.text())),
    /** Its window's schedule lets it run beside no other run of the dag: it is admitted once none is active. */
    waits: f.since(WAITS_SINCE, f.mark),
  },
  rows(change, rows: RunRows) {
    const { runId, params } = change;
    rows.runOf(runId).created = change;
    if (params !== null) rows.payloads.push({ runId, taskNo: null, body: params });
    if (change.backfill !== undefined) rows.backfillRuns.push(change);
    // Few runs begin with notes: those take a statement of their own, after the one that makes the row.
    const { notes } = notesCreated(change);
    if (notes !== undefined) rows.runNotes.set(runId, { runId, notes });
  },
  event(change, show) {
    const {
      versionNo: version,
      priority,
      cause,
      admitted,
      actor,
      firesAt,
      parent: by,
      backfill = null,
      dueAt,
    } = change;
    const parent = by === undefined ? null : { run: by.uid, task: by.task, attempt: by.attemptNo };
    const due = dueAt === undefined ? {} : { due: show(dueAt) };
    const details = { version, priority, cause, admitted, actor, window: show(firesAt), parent, backfill, ...due };
    return { kind: 'run.created', details };
  },
});

/** The run became one of its dag's active ones. */
const runAdmitted = defineChange('RunAdmitted', {
  no: 5,
  fields: { runId: f.run, at: f.instant },
  rows(change, rows: RunRows) {
    rows.runOf(change.runId).admitted = change;
  },
  event: () => ({ kind: 'run.admitted', details: {} }),
});

/** The run's outcome is fixed; its ordinary tasks that still run are being ended, and its closing tasks run (I33, I42). */
const runClosing = defineChange('RunClosing', {
  no: 10,
  fields: {
    runId: f.run,
    outcome: f.word(WORDS.runOutcomes),
    actor: f.text<Actor>(),
    at: f.instant,
    /** How long its running attempts have to stop, where that is not the default. */
    graceMs: f.since(3.6, f.optional(f.uint())),
  },
  rows(change, rows: RunRows) {
    rows.runOf(change.runId).closing = change;
  },
  event: ({ outcome, actor }) => ({ kind: 'run.closing', details: { outcome, actor } }),
});

const runEnded = defineChange('RunEnded', {
  no: 11,
  fields: { runId: f.run, outcome: f.word(WORDS.runOutcomes), at: f.instant },
  rows(change, rows: RunRows) {
    rows.runOf(change.runId).ended = change;
  },
  event: ({ outcome }) => ({ kind: 'run.ended', details: { outcome } }),
});

/** Somebody wants to be told that the run has ended: goes with `RunEnded` (I61). Whoever finds it stored makes the call. */
const callbackDue = defineChange('CallbackDue', {
  no: 36,
  fields: {
    runId: f.run,
    uid: f.text<RunUid>(),
    tenantId: f.uint<TenantId>(),
    dagId: f.uint<DagId>(),
    url: f.text(),
    outcome: f.word(WORDS.runOutcomes),
    at: f.instant,
  },
  rows(change, rows: RunRows) {
    rows.callbacks.push(change);
  },
  // The end of the run tells it.
  event: notTold,
});

/** A decision about this run threw. With the second strike it is set aside: kept, shown, not touched again (I57). */
const runStruck = defineChange('RunStruck', {
  no: 12,
  fields: { runId: f.run, strikes: f.uint(), setAside: f.flag, reason: f.text(), at: f.instant },
  rows(change, rows: RunRows) {
    rows.runOf(change.runId).struck = change;
  },
  event: ({ setAside, reason }) => (setAside ? { kind: 'run.set_aside', details: { reason } } : null),
});

/** What became of one run in a batch. */
export interface RunFold extends RunTasksFold {
  readonly runId: RunId;
  created: RunCreated | null;
  admitted: RunAdmitted | null;
  closing: RunClosing | null;
  ended: RunEnded | null;
  struck: RunStruck | null;
}

export interface RunNote {
  readonly runId: RunId;
  readonly notes: string;
}

export interface RunRows {
  runOf(runId: RunId): RunFold;
  readonly payloads: PayloadRow[];
  readonly callbacks: CallbackDue[];
  /** Those that backfills made. */
  readonly backfillRuns: RunCreated[];
  readonly runNotes: Map<RunId, RunNote>;
}

export interface RunCreated extends ChangeOf<typeof runCreated> {}
export interface RunAdmitted extends ChangeOf<typeof runAdmitted> {}
export interface RunClosing extends ChangeOf<typeof runClosing> {}
export interface RunEnded extends ChangeOf<typeof runEnded> {}
export interface CallbackDue extends ChangeOf<typeof callbackDue> {}
export interface RunStruck extends ChangeOf<typeof runStruck> {}
export type RunChange = RunCreated | RunAdmitted | RunClosing | RunEnded | CallbackDue | RunStruck;

export const runChanges = [runCreated, runAdmitted, runClosing, runEnded, callbackDue, runStruck] as const;
