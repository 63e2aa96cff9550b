/** Retires a dag. It keeps its history, its live runs and its name; the next deploy brings it back. */
import { type Answer, DONE, refuse } from '../../model/answer.ts';
import type { RetireDag } from '../../model/command.ts';
import { schedulesOf } from '../../model/dag/schedules-of.ts';
import type { Actor } from '../../model/ids.ts';
import type { Dag } from '../../tables/dag/dag.ts';
import { cancelBackfillsOf } from '../backfill/end.ts';
import type { Recorder } from '../recorder.ts';
import { setDefinitionSchedules } from '../schedule/definition-schedules.ts';
import { MAX_TOGETHER } from '../schedule/pause-schedule.ts';
import { removeSchedule } from '../schedule/set-schedule.ts';

export function retireDag(recorder: Recorder, command: RetireDag): Answer {
  const { state } = recorder;
  const { shard, dagId, tenantId, actor } = command;
  const dag = state.dags.get(dagId);
  if (dag === undefined || dag.tenantId !== tenantId) return refuse('DAG_NOT_FOUND');
  if (dag.isRetired) return DONE;
  if (state.schedules.countOf(dagId) > MAX_TOGETHER) return refuse('TOO_MANY_SCHEDULES', String(MAX_TOGETHER));
  // First what is due by the schedules: once this is answered, no window fires any more (I2, I6).
  for (const schedule of state.schedules.ofDag(dagId)) removeSchedule(recorder, schedule, actor);
  cancelBackfillsOf(recorder, dag, actor);
  recorder.record({ kind: 'DagRetired', shard, dagId, actor, at: state.now });
  return DONE;
}

/** Deployed again as it was. The schedules of its definition begin anew: what came due meanwhile was nobody's to fire. */
export function reviveDag(recorder: Recorder, dag: Dag, actor: Actor): void {
  const { id: dagId, shard, tenantId, current } = dag;
  const event = current.spec.on?.event ?? null;
  recorder.record({ kind: 'DagRevived', shard, tenantId, dagId, event, actor, at: recorder.state.now });
  setDefinitionSchedules(recorder, dag, schedulesOf(current.spec), actor);
}
