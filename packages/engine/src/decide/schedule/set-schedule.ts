/**
 * Creates, edits, pauses, resumes and removes schedules. Once answered, no window of the old version fires, and none fires
 * twice (I6).
 */
import { type Answer, DONE, refuse } from '../../model/answer.ts';
import type { SetSchedulePaused, StrikeSchedule } from '../../model/command.ts';
import type { ScheduleSpec } from '../../model/dag/spec.ts';
import { type Actor, type DagId, type Instant, instantOfRun, type RunId, type ShardNo } from '../../model/ids.ts';
import { isSameTiming } from '../../model/schedule/same-timing.ts';
import type { Schedule } from '../../tables/schedule/schedule.ts';
import type { Recorder } from '../recorder.ts';
import { decideAllDue, skipUntil } from './decide-windows.ts';

interface SetSchedule {
  readonly shard: ShardNo;
  readonly dagId: DagId;
  readonly spec: ScheduleSpec | null;
  readonly actor: Actor;
}

export function setSchedule(recorder: Recorder, { shard, dagId, spec, actor }: SetSchedule): void {
  const { state } = recorder;
  const known = state.schedules.get(dagId);
  if (known === undefined && spec === null) return;
  if (known !== undefined && spec !== null && isSame(known.spec, spec)) return;
  if (known !== undefined) settleOld(recorder, known);
  if (spec === null) {
    const decidedUntil = known!.decidedUntil;
    recorder.record({ kind: 'ScheduleRemoved', shard, dagId, decidedUntil, actor, at: state.now });
    return;
  }
  // One that was removed before has decided windows, too, and left runs behind, each created no earlier than its window:
  // with a clock that went back since, none of those windows may come again (I6).
  const lastRunAt = instantOfRun(state.shards.get(shard)?.lastRunId ?? (0 as RunId));
  const before = known?.decidedUntil ?? Math.max(state.dags.get(dagId)?.windowsUntil ?? 0, lastRunAt);
  const decidedUntil = Math.max(state.now, before) as Instant;
  // What the server paused for a fault was another schedule.
  const paused = known !== undefined && known.fault === null && known.paused;
  const revision = (known?.revision ?? 0) + 1;
  const set = { shard, dagId, revision, spec, paused, decidedUntil, fault: null };
  recorder.record({ kind: 'ScheduleSet', ...set, actor, at: state.now });
}

export function setSchedulePaused(recorder: Recorder, command: SetSchedulePaused): Answer {
  const { state } = recorder;
  const dag = state.dags.get(command.dagId);
  if (dag === undefined || dag.tenantId !== command.tenantId || dag.isRetired) return refuse('DAG_NOT_FOUND');
  const known = state.schedules.get(command.dagId);
  if (known === undefined) return refuse('SCHEDULE_NOT_FOUND', dag.name);
  const { paused, actor } = command;
  if (known.paused === paused) return DONE;
  settleOld(recorder, known);
  const { shard, dagId, spec } = known;
  const decidedUntil = Math.max(state.now, known.decidedUntil) as Instant;
  const revision = known.revision + 1;
  const set = { shard, dagId, revision, spec, paused, decidedUntil, fault: null };
  recorder.record({ kind: 'ScheduleSet', ...set, actor, at: state.now });
  return DONE;
}

const SYSTEM = 'system' as Actor;

/** Deciding its windows threw: it is paused, and says why. Nothing is computed here, for that is what went wrong (I57). */
export function strikeSchedule(recorder: Recorder, command: StrikeSchedule): Answer {
  const { state } = recorder;
  const known = state.schedules.get(command.dagId);
  if (known === undefined || known.fault !== null) return DONE;
  const { shard, dagId, spec, decidedUntil } = known;
  const set = { shard, dagId, revision: known.revision + 1, spec, paused: true, decidedUntil, fault: command.reason };
  recorder.record({ kind: 'ScheduleSet', ...set, actor: SYSTEM, at: state.now });
  return DONE;
}

/** Windows that are due by the old version are decided by it, or recorded as skipped while it was paused. */
function settleOld(recorder: Recorder, known: Schedule): void {
  if (known.fault !== null) return;
  if (known.paused) skipUntil(recorder, known, recorder.state.now, 'paused');
  else decideAllDue(recorder, known);
}

function isSame(a: ScheduleSpec, b: ScheduleSpec): boolean {
  return isSameTiming(a, b) && a.missed === b.missed && a.missedLimit === b.missedLimit;
}
