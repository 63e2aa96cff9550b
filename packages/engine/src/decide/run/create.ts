/** Creates runs for submissions and windows. */
import { assert } from '../../model/assert.ts';
import type { RunCreated } from '../../model/change.ts';
import { type Actor, type Instant, nextRunId, type RunId, type VersionNo } from '../../model/ids.ts';
import { waitsForOthers } from '../../model/schedule/schedule-policy.ts';
import { readParamFacts } from '../../model/task/facts.ts';
import type { Dag, Version } from '../../tables/dag/dag.ts';
import type { Schedule } from '../../tables/schedule/schedule.ts';
import type { Recorder } from '../recorder.ts';
import { uidOfWindow } from './window-uid.ts';

type NewRun = Pick<
  RunCreated,
  'uid' | 'priority' | 'cause' | 'firesAt' | 'params' | 'actor' | 'parent' | 'until' | 'scheduleNo'
> & {
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
    admitted: run.mustWait !== true && dag.hasRoomForRun() && dag.waitingRuns.size === 0,
    params: run.params,
    ...(run.until === undefined ? {} : { until: run.until }),
    ...(run.scheduleNo === undefined ? {} : { scheduleNo: run.scheduleNo }),
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

/** Params and priority are those of the schedule, and those of the dag where it has none. */
export function createScheduledRun(recorder: Recorder, schedule: Schedule, firesAt: Instant): RunId {
  const dag = recorder.state.dags.get(schedule.dagId);
  assert(dag !== undefined, 'a due schedule has its dag in memory');
  const { scheduleNo, spec } = schedule;
  const uid = uidOfWindow(dag.shard, schedule, firesAt);
  const { priority, defaultParams } = dag.current.spec;
  return createRun(recorder, dag, {
    uid,
    priority: spec.priority ?? priority,
    cause: 'schedule',
    firesAt,
    params: spec.params ?? defaultParams ?? null,
    actor: SCHEDULE,
    scheduleNo,
    mustWait: dag.activeRuns > 0 && waitsForOthers(spec),
  });
}
