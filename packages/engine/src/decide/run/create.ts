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
import { keyOfNew, mayHaveKey } from '../../tables/run/may-have-key.ts';
import type { Schedule } from '../../tables/schedule/schedule.ts';
import { countTasks } from '../halt/halt.ts';
import type { Recorder } from '../recorder.ts';
import { settleNewKey } from './key-policy.ts';
import { uidOfWindow } from './window-uid.ts';

type NewRun = Pick<
  RunCreated,
  'uid' | 'priority' | 'cause' | 'firesAt' | 'params' | 'actor' | 'parent' | 'until' | 'scheduleNo'
> &
  Partial<Pick<RunCreated, 'windowStart' | 'backfill' | 'dueAt' | 'requires' | 'assets' | 'waits'>> & {
    /** The current one unless told. */
    readonly version?: Version;
    /** It stands for a call that was stopped before it came, and is cancelled at once: it takes part in nothing. */
    readonly isMark?: true;
  };

/** A run of the dag's current version; waits when the dag, or its key, has as many active runs as it may (I7). */
export function createRun(recorder: Recorder, dag: Dag, run: NewRun): RunId {
  const { state } = recorder;
  const shard = state.shards.get(dag.shard);
  assert(shard !== undefined, 'runs are created by the owner of the shard');
  const { version = dag.current } = run;
  const runId = nextRunId(dag.shard, shard.lastRunId, state.now);
  const key = run.isMark === true ? undefined : keyOfNew(version, run.params);
  const created: Writable<RunCreated> = {
    kind: 'RunCreated',
    runId,
    tenantId: dag.tenantId,
    dagId: dag.id,
    versionNo: version.no,
    priority: run.priority,
    uid: run.uid,
    cause: run.cause,
    firesAt: run.firesAt,
    admitted:
      !(run.waits === true && dag.activeRuns > 0) &&
      run.requires === undefined &&
      dag.hasRoomForRun() &&
      dag.waitingRuns.size === 0 &&
      mayHaveKey(state, dag, key),
    params: run.params,
    facts: readParamFacts(version.spec.paramFacts, run.params),
    actor: run.actor,
    at: state.now,
  };
  // Not spread into it: that took as long as all the rest, and a hundred thousand windows may be due at once.
  if (run.parent !== undefined) created.parent = run.parent;
  if (run.assets !== undefined) created.assets = run.assets;
  if (run.until !== undefined) created.until = run.until;
  if (run.windowStart !== undefined) created.windowStart = run.windowStart;
  if (run.backfill !== undefined) created.backfill = run.backfill;
  if (run.scheduleNo !== undefined) created.scheduleNo = run.scheduleNo;
  if (run.dueAt !== undefined) created.dueAt = run.dueAt;
  if (run.requires !== undefined) created.requires = run.requires;
  if (key !== undefined) created.key = key;
  if (run.waits !== undefined) created.waits = run.waits;
  recorder.record(created);
  if (key !== undefined) {
    recorder.record({
      kind: 'RunKeySet',
      runId,
      uid: run.uid,
      dagId: dag.id,
      key,
      isLive: true,
      isActive: created.admitted,
    });
    settleNewKey(recorder, dag, runId, key);
  }
  if (run.isMark !== true) countTasks(recorder, dag, version.taskCount);
  return runId;
}

/** Params were checked against the schema of the version that a run would take, or that has none. */
export function areChecked({ current }: Dag, checkedFor: VersionNo | undefined): boolean {
  return checkedFor === undefined ? current.spec.paramsSchema === undefined : checkedFor === current.no;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const SCHEDULE = 'schedule' as Actor;

export function createScheduledRun(recorder: Recorder, schedule: Schedule, firesAt: Instant): RunId {
  const dag = recorder.state.dags.get(schedule.dagId);
  assert(dag !== undefined && schedule.timetable !== null, 'a due schedule has its dag in memory');
  const { timetable, lastWindowAt, decidedUntil, scheduleNo, spec } = schedule;
  const run: Writable<NewWindowRun> = {
    at: firesAt,
    timetable,
    scheduleNo,
    spec,
    cause: 'schedule',
    actor: SCHEDULE,
  };
  if (waitsForOthers(spec)) run.waits = true;
  // Nearly always the window before this one is the last that was decided: that spares the search.
  if (lastWindowAt !== null && lastWindowAt === decidedUntil) run.start = lastWindowAt;
  const requires = requiresOf(spec, recorder.state.now);
  if (requires !== null) run.requires = requires;
  return createWindowRun(recorder, dag, run);
}

/** What is required is fixed with the run: an edit of the schedule does not change it. */
function requiresOf(spec: ScheduleSpec, now: Instant): NonNullable<NewRun['requires']> | null {
  const { requires: of, unmet = 'skip', waitMs = 0, lookMs } = spec;
  if (of === undefined || of.length === 0) return null;
  return { of, unmet, until: (now + waitMs) as Instant, ...(lookMs === undefined ? {} : { lookMs }) };
}

interface NewWindowRun
  extends Partial<Pick<NewRun, 'params' | 'priority' | 'until' | 'backfill' | 'waits' | 'requires'>> {
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
  const { at, timetable, start, scheduleNo, spec, cause, actor, waits } = run;
  const { uid = uidOfWindow(dag.shard, { dagId: dag.id, scheduleNo }, at) } = run;
  const { priority = spec.priority ?? dag.current.spec.priority, until, backfill, requires } = run;
  const { params = dag.paramsOfWindow(spec) } = run;
  const windowStart = start ?? previousWindow(timetable, at, recorder.state.settings.zoneData) ?? at;
  const created: Writable<NewRun> = {
    uid,
    priority,
    cause,
    firesAt: at,
    windowStart,
    params,
    actor,
    scheduleNo,
  };
  if (until !== undefined) created.until = until;
  if (backfill !== undefined) created.backfill = backfill;
  if (requires !== undefined) created.requires = requires;
  if (waits !== undefined) created.waits = waits;
  return createRun(recorder, dag, created);
}
