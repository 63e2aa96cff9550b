import type { ScheduleSpec } from '../dag/spec.ts';
import {
  type Actor,
  type DagId,
  type Instant,
  type ScheduleId,
  type ScheduleNo,
  type ShardNo,
  scheduleIdOf,
} from '../ids.ts';
import { describeTiming } from '../schedule/describe-timing.ts';
import { c } from '../table/column.ts';
import { defineTable } from '../table/define-table.ts';
import { type ChangeOf, defineChange, notTold } from './define.ts';
import { f } from './fields.ts';
import { WORDS, type WordOf } from './words.ts';

export const DEFAULT_SCHEDULE = 'default';
/** When a schedule is due that is in memory at all times. */
export const RESIDENT = 0 as Instant;
/** Before dags could have several schedules, each had one. */
const FIRST = 1 as ScheduleNo;
const scheduleNo = f.since(5, f.uint<ScheduleNo>(), FIRST);

/** A schedule was set, edited, paused or resumed. `revision` grows with each edit (I6). */
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
    scheduleNo,
    /** Unique within its dag. */
    name: f.since(5, f.text(), DEFAULT_SCHEDULE),
    /** Whether a deploy or the API sets it: each leaves those of the other alone. */
    origin: f.since(5, f.word(WORDS.scheduleOrigins), 'definition'),
    /** How many of its windows have become runs. */
    fired: f.since(5, f.uint(), 0),
    /** See `ScheduleParked`. */
    dueAt: f.since(6, f.nullable(f.instant), RESIDENT),
  },
  rows(change, rows: ScheduleRows) {
    const { decidedUntil, dueAt } = change;
    Object.assign(scheduleOf(rows, change), { set: change, removed: null, decidedUntil, fired: 0, dueAt });
    const dag = dagOf(rows, change);
    dag.lastNo = Math.max(dag.lastNo, change.scheduleNo);
  },
  event: ({ name, spec, paused, fault, actor }) => ({
    kind: 'schedule.set',
    details: { schedule: name, fires: describeTiming(spec), zone: spec.zone, paused, fault, actor },
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
    scheduleNo,
    name: f.since(5, f.text(), DEFAULT_SCHEDULE),
  },
  rows(change, rows: ScheduleRows) {
    Object.assign(scheduleOf(rows, change), { set: null, removed: change, decidedUntil: null });
    const dag = dagOf(rows, change);
    dag.windowsUntil = Math.max(dag.windowsUntil, change.decidedUntil);
  },
  event: ({ name, actor }) => ({ kind: 'schedule.removed', details: { schedule: name, actor } }),
});

/**
 * Nobody needs to look at the schedule before `dueAt`: it is in the database only until then. Null: no window is left to wait for.
 * A window never fires before this, but may fire later.
 */
const scheduleParked = defineChange('ScheduleParked', {
  no: 60,
  since: 6,
  fields: {
    shard: f.uint<ShardNo>(),
    dagId: f.uint<DagId>(),
    scheduleNo: f.uint<ScheduleNo>(),
    dueAt: f.nullable(f.instant),
    /** Windows up to here are decided. Later than before only where newer zone data has moved what was decided (I3). */
    decidedUntil: f.instant,
    at: f.instant,
  },
  rows(change, rows: ScheduleRows) {
    const schedule = scheduleOf(rows, change);
    if (schedule.removed !== null) return;
    schedule.dueAt = change.dueAt;
    schedule.decidedUntil = Math.max(change.decidedUntil, schedule.decidedUntil ?? 0) as Instant;
  },
  event: notTold,
});

/** The version of the zone data by which due times of a shard were stored. */
export const scheduleZones = defineTable('schedule_zone', {
  key: { shard: c.shard },
  columns: { version: c.text() },
  load: 'heads',
});

/** All due times of the shard's parked schedules follow from this version of the zone data, or from none. */
const zonesApplied = defineChange('ZonesApplied', {
  no: 61,
  since: 6,
  fields: { shard: f.uint<ShardNo>(), version: f.text(), at: f.instant },
  tables: (change, tables) => tables.put(scheduleZones, change),
  event: notTold,
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
    scheduleNo,
    /** The name of the schedule. */
    name: f.since(5, f.text(), DEFAULT_SCHEDULE),
  },
  rows(change, rows: ScheduleRows) {
    rows.windows.push(change);
    const schedule = scheduleOf(rows, change);
    // A schedule that was removed in this batch leaves its decided windows behind, and no row to move.
    if (schedule.removed !== null) return;
    const until = Math.max(change.firesAt, change.untilAt, schedule.decidedUntil ?? Number.NEGATIVE_INFINITY);
    schedule.decidedUntil = until as Instant;
    if (change.runId !== null) schedule.fired += 1;
  },
  event({ name: schedule, skipped: reason, count, wallTime, firesAt, untilAt }, show) {
    // A window that fires is told by the run that it makes.
    if (reason === null) return null;
    const span = { firesAt: show(firesAt), untilAt: show(untilAt) };
    return { kind: 'window.skipped', details: { schedule, reason, count, wallTime, ...span } };
  },
});

/**
 * A window that had its run is skipped after all: what it requires was not there in time. The run is cancelled in the same commit
 * and stays with the window, which now says why nothing ran (I2).
 */
const windowSkipped = defineChange('WindowSkipped', {
  no: 96,
  since: 7,
  fields: {
    shard: f.uint<ShardNo>(),
    dagId: f.uint<DagId>(),
    scheduleNo: f.uint<ScheduleNo>(),
    /** The name of the schedule; null for one that is not in memory, or gone. */
    name: f.nullable(f.text()),
    firesAt: f.instant,
    runId: f.run,
    skipped: f.word(WORDS.skipReasons),
    at: f.instant,
  },
  rows(change, rows: ScheduleRows) {
    rows.skippedWindows.push(change);
  },
  event: ({ name: schedule, skipped: reason, firesAt }, show) => ({
    kind: 'window.skipped',
    details: { schedule, reason, count: 1, wallTime: null, firesAt: show(firesAt), untilAt: show(firesAt) },
  }),
});

interface ScheduleRef {
  readonly shard: ShardNo;
  readonly dagId: DagId;
  readonly scheduleNo: ScheduleNo;
}

/** What became of one schedule in a batch. */
export interface ScheduleFold extends ScheduleRef {
  set: ScheduleSet | null;
  removed: ScheduleRemoved | null;
  /** The last window decided since `set`, or in the whole batch when there was none. */
  decidedUntil: Instant | null;
  /** How many windows have become runs since `set`, or in the whole batch when there was none. */
  fired: number;
  /** Undefined when it stays as it is. */
  dueAt: Instant | null | undefined;
}

/** What a batch leaves with a dag about its schedules. Both only grow. */
export interface ScheduledDagFold {
  readonly shard: ShardNo;
  readonly dagId: DagId;
  /** What schedules that were removed have decided. */
  windowsUntil: number;
  /** The last number given. */
  lastNo: number;
}

export interface ScheduleRows {
  readonly schedules: Map<ScheduleId, ScheduleFold>;
  readonly scheduledDags: Map<DagId, ScheduledDagFold>;
  readonly windows: WindowDecided[];
  readonly skippedWindows: WindowSkipped[];
}

function scheduleOf({ schedules }: ScheduleRows, ref: ScheduleRef): ScheduleFold {
  const id = scheduleIdOf(ref);
  let schedule = schedules.get(id);
  if (schedule === undefined) {
    const { shard, dagId, scheduleNo } = ref;
    schedule = { shard, dagId, scheduleNo, set: null, removed: null, decidedUntil: null, fired: 0, dueAt: undefined };
    schedules.set(id, schedule);
  }
  return schedule;
}

function dagOf({ scheduledDags }: ScheduleRows, { shard, dagId }: ScheduleRef): ScheduledDagFold {
  let dag = scheduledDags.get(dagId);
  if (dag === undefined) {
    dag = { shard, dagId, windowsUntil: 0, lastNo: 0 };
    scheduledDags.set(dagId, dag);
  }
  return dag;
}

export interface ScheduleSet extends ChangeOf<typeof scheduleSet> {}
export interface ScheduleRemoved extends ChangeOf<typeof scheduleRemoved> {}
export interface ScheduleParked extends ChangeOf<typeof scheduleParked> {}
export interface ZonesApplied extends ChangeOf<typeof zonesApplied> {}
export interface WindowDecided extends ChangeOf<typeof windowDecided> {}
export interface WindowSkipped extends ChangeOf<typeof windowSkipped> {}
export type ScheduleChange =
  | ScheduleSet
  | ScheduleRemoved
  | ScheduleParked
  | ZonesApplied
  | WindowDecided
  | WindowSkipped;

export const scheduleChanges = [
  scheduleSet,
  scheduleRemoved,
  scheduleParked,
  zonesApplied,
  windowDecided,
  windowSkipped,
] as const;
export const scheduleTables = { scheduleZones };
