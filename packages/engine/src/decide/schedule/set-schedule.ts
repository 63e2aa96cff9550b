/**
 * Sets and removes single schedules: the common part of deploys and of the API. Once answered, no window of the
 * old version fires, and none fires twice (I6).
 */
import type { ScheduleSet } from '../../model/change.ts';
import type { NamedSchedule } from '../../model/dag/spec.ts';
import { type Actor, type Instant, instantOfRun, type RunId, type ScheduleNo } from '../../model/ids.ts';
import type { Dag } from '../../tables/dag/dag.ts';
import { type Schedule, storedOf } from '../../tables/schedule/schedule.ts';
import type { Recorder } from '../recorder.ts';
import { decideAllDue, decidePaused, decideWindow, skipPaused } from './decide-windows.ts';
import { decidePassedTimes, removeIfOver, startOfTimes } from './over.ts';
import { dueAtOfNew } from './park.ts';

type New = NamedSchedule & Pick<ScheduleSet, 'origin' | 'actor'>;

/** The next number of the dag. Its windows begin now, or after all that schedules of this dag have decided before. */
export function addSchedule(recorder: Recorder, dag: Dag, { name, spec, origin, actor }: New): void {
  const { state } = recorder;
  const { shard, id: dagId } = dag;
  const scheduleNo = (dag.lastScheduleNo + 1) as ScheduleNo;
  // One that was removed before has decided windows, too, and left runs behind, each created no earlier than its window:
  // with a clock that went back since, none of those windows may come again (I6).
  const lastRunAt = instantOfRun(state.shards.get(shard)?.lastRunId ?? (0 as RunId));
  const timesFrom = origin === 'api' ? startOfTimes(state, spec) : null;
  const decided = timesFrom ?? Math.max(state.now, dag.windowsUntil, lastRunAt);
  // With a clock that went back, this instant may have been a window already: then nothing runs now.
  const runsNow = spec.runNow === true && decided <= state.now;
  const decidedUntil = (runsNow ? Math.min(decided, state.now - 1) : decided) as Instant;
  const set = {
    kind: 'ScheduleSet' as const,
    shard,
    dagId,
    scheduleNo,
    name,
    origin,
    revision: 1,
    spec,
    paused: false,
    decidedUntil,
    fault: null,
    fired: 0,
    dueAt: null as Instant | null,
    actor,
    at: state.now,
  };
  set.dueAt = dueAtOfNew(recorder, set);
  recorder.record(set);
  const schedule = state.schedules.named(dagId, name)!;
  if (timesFrom !== null) decidePassedTimes(recorder, schedule);
  if (runsNow && schedule.decidedUntil < state.now) {
    decideWindow(recorder, schedule, { at: state.now, firesAt: state.now });
  }
  removeIfOver(recorder, schedule);
}

/** Edits, pauses or resumes. What is due by the old version is decided by it. */
export function changeSchedule(
  recorder: Recorder,
  known: Schedule,
  to: Partial<Pick<ScheduleSet, 'spec' | 'paused'>> & Pick<ScheduleSet, 'actor'>,
): void {
  const { state } = recorder;
  if (known.paused && known.fault === null && to.spec === undefined) decidePaused(recorder, known);
  else settleOld(recorder, known);
  const decidedUntil = Math.max(state.now, known.decidedUntil) as Instant;
  const { actor, ...changed } = to;
  const set = { ...storedOf(known), ...changed, revision: known.revision + 1, decidedUntil, fault: null };
  const dueAt = dueAtOfNew(recorder, { ...set, dueAt: known.dueAt });
  recorder.record({ kind: 'ScheduleSet', ...set, dueAt, actor, at: state.now });
  removeIfOver(recorder, state.schedules.get(known.id)!);
}

export function removeSchedule(recorder: Recorder, known: Schedule, actor: Actor): void {
  settleOld(recorder, known);
  const { shard, dagId, scheduleNo, name, decidedUntil } = known;
  const at = recorder.state.now;
  recorder.record({ kind: 'ScheduleRemoved', shard, dagId, scheduleNo, name, decidedUntil, actor, at });
}

/** Windows that are due by the old version are decided by it, or recorded as skipped while it was paused. */
function settleOld(recorder: Recorder, known: Schedule): void {
  if (known.fault !== null) return;
  if (known.paused) skipPaused(recorder, known);
  else decideAllDue(recorder, known);
}
