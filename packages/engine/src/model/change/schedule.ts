import type { ScheduleSpec } from '../dag/spec.ts';
import type { Actor, DagId, Instant, ShardNo } from '../ids.ts';
import { type ChangeOf, defineChange } from './define.ts';
import { f } from './fields.ts';
import { WORDS, type WordOf } from './words.ts';

/** A schedule was set, edited, paused or resumed. One per dag; `revision` grows with each edit (I6). */
const scheduleSet = defineChange('ScheduleSet', {
  no: 1,
  fields: {
    shard: f.uint<ShardNo>(),
    dagId: f.uint<DagId>(),
    revision: f.uint(),
    spec: f.json<ScheduleSpec>(),
    paused: f.flag,
    /** All windows up to here are decided; the next one is later (I1, I5). */
    decidedUntil: f.instant,
    /** Why the server itself has paused the schedule: deciding its windows went wrong (I57). */
    fault: f.since(2.1, f.nullable(f.text())),
    actor: f.text<Actor>(),
    at: f.instant,
  },
  rows(change, rows: ScheduleRows) {
    const { decidedUntil } = change;
    Object.assign(scheduleOf(rows, change), { set: change, removed: null, decidedUntil });
  },
  event: ({ spec: { cron, zone }, paused, fault, actor }) => ({
    kind: 'schedule.set',
    details: { cron, zone, paused, fault, actor },
  }),
});

const scheduleRemoved = defineChange('ScheduleRemoved', {
  no: 2,
  fields: {
    shard: f.uint<ShardNo>(),
    dagId: f.uint<DagId>(),
    /** Windows up to here are decided: kept with the dag, for the next schedule that it gets (I1). */
    decidedUntil: f.since(2, f.instant, 0 as Instant),
    actor: f.text<Actor>(),
    at: f.instant,
  },
  rows(change, rows: ScheduleRows) {
    const removed = { set: null, removed: change, removedUntil: change.decidedUntil, decidedUntil: null };
    Object.assign(scheduleOf(rows, change), removed);
  },
  event: ({ actor }) => ({ kind: 'schedule.removed', details: { actor } }),
});

export type SkipReason = WordOf<'skipReasons'>;

/** A window was decided, once: a run was created for it, or it was skipped for a reason (I2). Moves `decidedUntil`. */
const windowDecided = defineChange('WindowDecided', {
  no: 3,
  fields: {
    shard: f.uint<ShardNo>(),
    dagId: f.uint<DagId>(),
    firesAt: f.instant,
    /** For a wall time that does not exist (skipped: gap); null otherwise. */
    wallTime: f.nullable(f.text()),
    runId: f.nullable(f.run),
    skipped: f.nullable(f.word(WORDS.skipReasons)),
    /**
     * How many windows this is about: a long row of skipped ones is recorded as one, from `firesAt` to `untilAt`.
     * 0 when there were too many to count.
     */
    count: f.uint(),
    untilAt: f.instant,
    at: f.instant,
  },
  rows(change, rows: ScheduleRows) {
    rows.windows.push(change);
    const schedule = scheduleOf(rows, change);
    // A schedule that was removed in this batch leaves its decided windows behind, and no row to move.
    if (schedule.removed !== null) return;
    const until = Math.max(change.firesAt, change.untilAt, schedule.decidedUntil ?? Number.NEGATIVE_INFINITY);
    schedule.decidedUntil = until as Instant;
  },
  event({ skipped: reason, count, wallTime, firesAt, untilAt }, show) {
    // A window that fires is told by the run that it makes.
    if (reason === null) return null;
    const span = { firesAt: show(firesAt), untilAt: show(untilAt) };
    return { kind: 'window.skipped', details: { reason, count, wallTime, ...span } };
  },
});

/** What became of one schedule in a batch. */
export interface ScheduleFold {
  readonly shard: ShardNo;
  readonly dagId: DagId;
  set: ScheduleSet | null;
  removed: ScheduleRemoved | null;
  /** A schedule was removed in this batch, whatever came after it. */
  removedUntil: Instant | null;
  /** The last window decided since `set`, or in the whole batch when there was none. */
  decidedUntil: Instant | null;
}

export interface ScheduleRows {
  readonly schedules: Map<DagId, ScheduleFold>;
  readonly windows: WindowDecided[];
}

function scheduleOf({ schedules }: ScheduleRows, { shard, dagId }: { shard: ShardNo; dagId: DagId }): ScheduleFold {
  let schedule = schedules.get(dagId);
  if (schedule === undefined) {
    schedule = { shard, dagId, set: null, removed: null, removedUntil: null, decidedUntil: null };
    schedules.set(dagId, schedule);
  }
  return schedule;
}

export interface ScheduleSet extends ChangeOf<typeof scheduleSet> {}
export interface ScheduleRemoved extends ChangeOf<typeof scheduleRemoved> {}
export interface WindowDecided extends ChangeOf<typeof windowDecided> {}
export type ScheduleChange = ScheduleSet | ScheduleRemoved | WindowDecided;

export const scheduleChanges = [scheduleSet, scheduleRemoved, windowDecided] as const;
