/** Creates runs for submissions and windows. */
import { assert } from '../../model/assert.ts';
import { bitsOf } from '../../model/chance.ts';
import type { RunCreated } from '../../model/change.ts';
import {
  type Actor,
  type DagId,
  type Instant,
  makeRunUid,
  nextRunId,
  type RunId,
  type RunUid,
  type ShardNo,
  type VersionNo,
} from '../../model/ids.ts';
import type { Timetable } from '../../model/schedule/timetable.ts';
import { windowBefore } from '../../model/schedule/window-before.ts';
import { readParamFacts } from '../../model/task/facts.ts';
import type { Dag, Version } from '../../tables/dag/dag.ts';
import type { Schedule } from '../../tables/schedule/schedule.ts';
import type { Recorder } from '../recorder.ts';

type NewRun = Pick<RunCreated, 'uid' | 'priority' | 'cause' | 'firesAt' | 'params' | 'actor' | 'parent' | 'until'> &
  Partial<Pick<RunCreated, 'windowStart' | 'backfill'>> & {
    /** The current one unless told. */
    readonly version?: Version;
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
    admitted: dag.hasRoomForRun() && dag.waitingRuns.size === 0,
    params: run.params,
    ...(run.until === undefined ? {} : { until: run.until }),
    ...(run.windowStart === undefined ? {} : { windowStart: run.windowStart }),
    ...(run.backfill === undefined ? {} : { backfill: run.backfill }),
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
  const { timetable, lastWindowAt, decidedUntil } = schedule;
  // Nearly always the window before this one is the last that was decided: that spares the search.
  const known = lastWindowAt !== null && lastWindowAt === decidedUntil ? { start: lastWindowAt } : {};
  return createWindowRun(recorder, dag, { at: firesAt, timetable, cause: 'schedule', actor: SCHEDULE, ...known });
}

export interface NewWindowRun extends Partial<Pick<NewRun, 'params' | 'priority' | 'until' | 'backfill'>> {
  readonly at: Instant;
  readonly timetable: Timetable;
  readonly cause: RunCreated['cause'];
  readonly actor: Actor;
  /** The window before, where it is known. */
  readonly start?: Instant;
  /** That of the window's first run unless told. */
  readonly uid?: RunUid;
}

/** A run for a window, whoever asks for it. Its data interval goes from the window before to its own. */
export function createWindowRun(recorder: Recorder, dag: Dag, run: NewWindowRun): RunId {
  const { at, timetable, start, uid = uidOfWindow(dag.shard, dag.id, at), cause, actor } = run;
  const { spec } = dag.current;
  const { priority = spec.priority, params = spec.defaultParams ?? null, until, backfill } = run;
  const windowStart = start ?? windowBefore(timetable, at, recorder.state.settings.zoneData) ?? at;
  return createRun(recorder, dag, {
    ...{ uid, priority, cause, firesAt: at, windowStart, params, actor },
    ...(until === undefined ? {} : { until }),
    ...(backfill === undefined ? {} : { backfill }),
  });
}

/** The uid of a scheduled run follows from its window: the same window gives the same uid on any node (I1). */
export function uidOfWindow(shard: ShardNo, dagId: DagId, firesAt: Instant): RunUid {
  return makeRunUid(shard, firesAt, bitsOf(48, dagId, firesAt, 11), bitsOf(26, dagId, firesAt, 12));
}
