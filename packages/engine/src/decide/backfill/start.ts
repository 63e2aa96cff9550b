/** Starts, pauses, resumes and cancels backfills. */
import { type Answer, DONE, refuse } from '../../model/answer.ts';
import { isLiveBackfill } from '../../model/backfill.ts';
import type { SetBackfill, StartBackfill } from '../../model/command.ts';
import { untilFaultText } from '../../model/dag/until.ts';
import { type Instant, scheduleIdOf } from '../../model/ids.ts';
import type { Recorder } from '../recorder.ts';
import { settleUntil } from '../schedule/settle-until.ts';
import { recordSet } from './end.ts';

export function startBackfill(recorder: Recorder, command: StartBackfill): Answer {
  const { state } = recorder;
  const { shard, tenantId, dagId, uid, windowCount, actor } = command;
  // The clock of whoever asked may be ahead: what has not come yet here is the schedule's (I1, I4).
  const spec = { ...command.spec, toAt: Math.min(command.spec.toAt, state.now) as Instant };
  const dag = state.dags.get(dagId);
  if (dag === undefined || dag.tenantId !== tenantId) return refuse('DAG_NOT_FOUND');
  // The same command again: it is live, or was and is stored.
  if (state.backfills.has(uid) || recorder.fetched('backfills', { shard, uid }) !== undefined) return DONE;
  if (dag.isRetired) return refuse('DAG_NOT_FOUND', dag.name);
  const fault = spec.until === undefined ? null : untilFaultText(dag.current.spec, spec.until);
  if (fault !== null) return refuse('UNTIL_INVALID', fault);
  if (spec.order === 'backward' && dag.current.pastTasks.length > 0) {
    const task = dag.current.spec.tasks[dag.current.pastTasks[0]!]!.name;
    return refuse('BACKFILL_INVALID', `task ${task} depends on the past, so the oldest window must run first`);
  }
  // No window of the range is left to the schedule: it would make a second run of it later (I1).
  const schedule = state.schedules.get(scheduleIdOf({ dagId, scheduleNo: spec.scheduleNo }));
  if (schedule !== undefined) settleUntil(recorder, schedule, spec.toAt);
  recorder.record({ kind: 'BackfillStarted', shard, uid, tenantId, dagId, spec, windowCount, actor, at: state.now });
  return DONE;
}

export function setBackfill(recorder: Recorder, { shard, tenantId, uid, to, actor }: SetBackfill): Answer {
  const known = recorder.state.backfills.get(uid);
  const stored = recorder.fetched('backfills', { shard, uid });
  const found = known ?? stored;
  if (found === undefined || found.tenantId !== tenantId) return refuse('BACKFILL_NOT_FOUND', uid);
  if (found.state === to) return DONE;
  if (known === undefined || !isLiveBackfill(known.state)) return refuse('BACKFILL_ENDED', found.state);
  recordSet(recorder, known, to, actor);
  return DONE;
}
