/**
 * A delayed run: a run that somebody asked for, to begin at a later time. Until then it is a schedule of that one time, which has
 * the run's uid as its name and goes in the commit that creates the run. So it is never early, never lost and never twice
 * (I4, I10, I1), and it waits where all schedules wait. It belongs to whoever asked for it, not to the timetable of its dag:
 * pausing the schedules of the dag does not hold it, and however late it is, it runs.
 */
import { assert } from '../../model/assert.ts';
import type { ScheduleSpec } from '../../model/dag/spec.ts';
import { untilFaultText } from '../../model/dag/until.ts';
import { type Actor, type Instant, LAST_RUN_AT, type RunUid, type ScheduleNo } from '../../model/ids.ts';
import type { Dag } from '../../tables/dag/dag.ts';
import { type Schedule, storedOf } from '../../tables/schedule/schedule.ts';
import type { Recorder } from '../recorder.ts';
import { createRun } from '../run/create.ts';
import { takenKey } from '../run/key-policy.ts';

/**
 * A time that has passed by no more than this begins at once: the request took its time, or the caller's clock is behind. One
 * that is older is a mistake.
 */
const JUST_PASSED_MS = 60_000;

/** Why a run can't be asked for at this time; null when it can. */
export function timeFault({ state }: Recorder, at: Instant): string | null {
  if (at > LAST_RUN_AT) return 'runs can be created until 2088';
  return at < state.now - JUST_PASSED_MS ? 'that time has passed' : null;
}

interface NewDelayedRun {
  readonly uid: RunUid;
  readonly at: Instant;
  readonly params: string | null;
  readonly priority: ScheduleSpec['priority'] | null;
  readonly until?: string;
  readonly actor: Actor;
}

/** Number 1 is left to the dag's own schedule: servers of the version before take it for that. */
const FIRST_NO = 2;

export function nextDelayedNo({ lastScheduleNo }: Dag): ScheduleNo {
  return Math.max(lastScheduleNo + 1, FIRST_NO) as ScheduleNo;
}

export function addDelayedRun(recorder: Recorder, dag: Dag, run: NewDelayedRun): void {
  const { state } = recorder;
  const { uid, at, params, priority, until, actor } = run;
  const spec: ScheduleSpec = {
    at: [at],
    zone: 'UTC',
    gap: 'fire_after',
    missed: 'most_recent',
    missedLimit: 1,
    jitterMs: 0,
    ...(params === null ? {} : { params }),
    ...(priority == null ? {} : { priority }),
    run: { uid, actor, ...(until === undefined ? {} : { until }) },
  };
  recorder.record({
    kind: 'ScheduleSet',
    shard: dag.shard,
    dagId: dag.id,
    scheduleNo: nextDelayedNo(dag),
    name: uid,
    origin: 'api',
    revision: 1,
    spec,
    paused: false,
    // What other schedules of the dag have decided does not count, whatever the clock did: this time is no window of theirs.
    decidedUntil: state.now,
    fault: null,
    fired: 0,
    dueAt: at,
    actor,
    at: state.now,
  });
}

export function isDelayedRun({ spec }: Pick<Schedule, 'spec'>): boolean {
  return spec.run !== undefined;
}

/** Its time has come. */
export function beginDelayedRun(recorder: Recorder, schedule: Schedule): void {
  const { state } = recorder;
  const { dagId, spec } = schedule;
  const dag = state.dags.get(dagId);
  const at = spec.at?.[0] as Instant;
  assert(dag !== undefined && spec.run !== undefined, 'a due schedule has its dag in memory');
  if (at > state.now) return;
  const { uid, until, actor } = spec.run;
  const isDeleted = dag.isRetired || state.tenants.isDeleted(dag.tenantId);
  const isGone = isDeleted || (until !== undefined && untilFaultText(dag.current.spec, until) !== null);
  const params = spec.params ?? null;
  if (isGone) recordSkipped(recorder, schedule, at, 'deleted');
  else if (takenKey(state, dag, dag.current, params) !== null) recordSkipped(recorder, schedule, at, 'overlap');
  else {
    createRun(recorder, dag, {
      uid,
      priority: spec.priority ?? dag.current.spec.priority,
      cause: 'api',
      firesAt: null,
      dueAt: at,
      params,
      ...(until === undefined ? {} : { until }),
      actor,
    });
  }
  dropDelayedRun(recorder, schedule, actor);
}

/** There is nothing to run any more, or its key is taken: that is recorded, like any window that has no run (I2). */
function recordSkipped(
  recorder: Recorder,
  { shard, dagId, scheduleNo, name }: Schedule,
  firesAt: Instant,
  skipped: 'deleted' | 'overlap',
): void {
  recorder.record({
    kind: 'WindowDecided',
    ...{ shard, dagId, scheduleNo, name },
    ...{ firesAt, runId: null, skipped, count: 1, untilAt: firesAt, wallTime: null },
    at: recorder.state.now,
  });
}

/** Cancelled before it began, or just begun. */
export function dropDelayedRun(recorder: Recorder, schedule: Schedule, actor: Actor): void {
  const { shard, dagId, scheduleNo, name, decidedUntil } = schedule;
  const removed = { shard, dagId, scheduleNo, name, decidedUntil };
  recorder.record({ kind: 'ScheduleRemoved', ...removed, actor, at: recorder.state.now });
}

/** Its time stays as it is: one that has passed when it is resumed begins then. */
export function setDelayedPaused(recorder: Recorder, known: Schedule, paused: boolean, actor: Actor): void {
  const { decidedUntil } = known;
  const dueAt = paused ? null : (known.spec.at?.[0] as Instant);
  const set = { ...storedOf(known), paused, revision: known.revision + 1, decidedUntil, fault: null, dueAt };
  recorder.record({ kind: 'ScheduleSet', ...set, actor, at: recorder.state.now });
}
