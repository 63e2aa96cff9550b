/** Creates runs for submissions and windows. */
import { assert } from '../../model/assert.ts';
import type { RunCreated } from '../../model/change.ts';
import type { ScheduleSpec } from '../../model/dag/spec.ts';
import {
  type Actor,
  type Instant,
  nextRunId,
  type RunId,
  type RunUid,
  type ScheduleNo,
  type VersionNo,
} from '../../model/ids.ts';
import { waitsForOthers } from '../../model/schedule/schedule-policy.ts';
import type { Timetable } from '../../model/schedule/timetable.ts';
import { previousWindow } from '../../model/schedule/window-after.ts';
import { readParamFacts } from '../../model/task/facts.ts';
import type { Dag, Version } from '../../tables/dag/dag.ts';
import type { Schedule } from '../../tables/schedule/schedule.ts';
import type { Recorder } from '../recorder.ts';
import { uidOfWindow } from './window-uid.ts';

type NewRun = Pick<
  RunCreated,
  'uid' | 'priority' | 'cause' | 'firesAt' | 'params' | 'actor' | 'parent' | 'until' | 'scheduleNo'
> &
  Partial<Pick<RunCreated, 'windowStart' | 'backfill' | 'dueAt' | 'requires' | 'assets'>> & {
    /** The current one unless told. */
    readonly version?: Version;
    /** For active runs of the dag to end, whatever its limit. */
    readonly mustWait?: boolean;
  };

/** A run of the dag's current version; waits when the dag has as many active runs as it may (I7). */
export function createRun(recorder: Recorder, dag: Dag, run: NewRun): RunId {
  const { state } = recorder;
  const shard = state.shards.get(dag.shard);
  assert(shard !== undefined, 'runs are created by the owner of the shard');
  const { version = dag.current } = run;
  const runId = nextRunId(dag.shard, shard.lastRunId, state.now);
  recorder.record({
    kind: 'RunCreated',
    runId,
    tenantId: dag.tenantId,
    dagId: dag.id,
    versionNo: version.no,
    priority: run.priority,
    uid: run.uid,
    cause: run.cause,
    firesAt: run.firesAt,
    ...(run.parent === undefined ? {} : { parent: run.parent }),
    admitted: run.mustWait !== true && run.requires === undefined && dag.hasRoomForRun() && dag.waitingRuns.size === 0,
    params: run.params,
    ...(run.until === undefined ? {} : { until: run.until }),
    ...(run.windowStart === undefined ? {} : { windowStart: run.windowStart }),
    ...(run.backfill === undefined ? {} : { backfill: run.backfill }),
    ...(run.scheduleNo === undefined ? {} : { scheduleNo: run.scheduleNo }),
    ...(run.dueAt === undefined ? {} : { dueAt: run.dueAt }),
    ...(run.requires === undefined ? {} : { requires: run.requires }),
    ...(run.assets === undefined ? {} : { assets: run.assets }),
    facts: readParamFacts(version.spec.paramFacts, run.params),
    actor: run.actor,
    at: state.now,
  });
  return runId;
}

/** Params were checked against the schema of the version that a run would take, or that has none. */
export function areChecked({ current }: Dag, checkedFor: VersionNo | undefined): boolean {
  return checkedFor === undefined ? current.spec.paramsSchema === undefined : checkedFor === current.no;
}

const SCHEDULE = 'schedule' as Actor;

export function createScheduledRun(recorder: Recorder, schedule: Schedule, firesAt: Instant): RunId {
  const dag = recorder.state.dags.get(schedule.dagId);
  assert(dag !== undefined && schedule.timetable !== null, 'a due schedule has its dag in memory');
  const { timetable, lastWindowAt, decidedUntil, scheduleNo, spec } = schedule;
  // Nearly always the window before this one is the last that was decided: that spares the search.
  const known = lastWindowAt !== null && lastWindowAt === decidedUntil ? { start: lastWindowAt } : {};
  const mustWait = dag.activeRuns > 0 && waitsForOthers(spec);
  const window = { at: firesAt, timetable, scheduleNo, spec, mustWait, ...known };
  const requires = requiresOf(spec, recorder.state.now);
  return createWindowRun(recorder, dag, { ...window, ...requires, cause: 'schedule', actor: SCHEDULE });
}

/** What is required is fixed with the run: an edit of the schedule does not change it. */
function requiresOf(spec: ScheduleSpec, now: Instant): Pick<NewRun, 'requires'> {
  const { requires: of, unmet = 'skip', waitMs = 0 } = spec;
  return of === undefined || of.length === 0 ? {} : { requires: { of, unmet, until: (now + waitMs) as Instant } };
}

export interface NewWindowRun
  extends Partial<Pick<NewRun, 'params' | 'priority' | 'until' | 'backfill' | 'mustWait' | 'requires'>> {
  readonly at: Instant;
  readonly timetable: Timetable;
  readonly scheduleNo: ScheduleNo;
  readonly spec: ScheduleSpec;
  readonly cause: RunCreated['cause'];
  readonly actor: Actor;
  /** The window before, where it is known. */
  readonly start?: Instant;
  /** That of the window's first run unless told. */
  readonly uid?: RunUid;
}

/**
 * A run for a window, whoever asks for it. Its data interval goes from the window before to its own. Params and priority are those
 * of the schedule, and those of the dag where it has none.
 */
export function createWindowRun(recorder: Recorder, dag: Dag, run: NewWindowRun): RunId {
  const { at, timetable, start, scheduleNo, spec, cause, actor, mustWait = false } = run;
  const { uid = uidOfWindow(dag.shard, { dagId: dag.id, scheduleNo }, at) } = run;
  const { priority = spec.priority ?? dag.current.spec.priority, until, backfill, requires } = run;
  const { params = spec.params ?? dag.current.spec.defaultParams ?? null } = run;
  const windowStart = start ?? previousWindow(timetable, at, recorder.state.settings.zoneData) ?? at;
  return createRun(recorder, dag, {
    ...{ uid, priority, cause, firesAt: at, windowStart, params, actor, scheduleNo },
    ...(until === undefined ? {} : { until }),
    ...(backfill === undefined ? {} : { backfill }),
    ...(requires === undefined ? {} : { requires }),
    mustWait,
  });
}
