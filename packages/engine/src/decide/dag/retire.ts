/** Retires a dag. It keeps its history, its live runs and its name; the next deploy brings it back. */
import { type Answer, DONE, refuse } from '../../model/answer.ts';
import type { RetireDag } from '../../model/command.ts';
import { schedulesOf } from '../../model/dag/schedules-of.ts';
import type { Actor } from '../../model/ids.ts';
import { watchedBy } from '../../model/trigger/watched-by.ts';
import type { Dag } from '../../tables/dag/dag.ts';
import { cancelBackfillsOf } from '../backfill/end.ts';
import { setExpectations } from '../expect/expect.ts';
import type { Recorder } from '../recorder.ts';
import { setDefinitionSchedules } from '../schedule/definition-schedules.ts';
import { MAX_TOGETHER, ownSchedulesOf } from '../schedule/pause-schedule.ts';
import { removeSchedule } from '../schedule/set-schedule.ts';
import { releaseAllOf } from '../trigger/release-held.ts';

export function retireDag(recorder: Recorder, command: RetireDag): Answer {
  const { state } = recorder;
  const { shard, dagId, tenantId, actor } = command;
  const dag = state.dags.get(dagId);
  if (dag === undefined || dag.tenantId !== tenantId) return refuse('DAG_NOT_FOUND');
  if (dag.isRetired) return DONE;
  const schedules = ownSchedulesOf(state, dagId);
  if (schedules.length > MAX_TOGETHER) return refuse('TOO_MANY_SCHEDULES', String(MAX_TOGETHER));
  // First what is due by the schedules: once this is answered, no window fires any more (I2, I6).
  // Delayed runs stay until their time: the dag may be back by then.
  for (const schedule of schedules) removeSchedule(recorder, schedule, actor);
  releaseAllOf(recorder, dagId);
  cancelBackfillsOf(recorder, dag, actor);
  setExpectations(recorder, dag, []);
  recorder.record({ kind: 'DagRetired', shard, dagId, actor, at: state.now });
  return DONE;
}

/** Deployed again as it was. The schedules of its definition begin anew: what came due meanwhile was nobody's to fire. */
export function reviveDag(recorder: Recorder, dag: Dag, actor: Actor): void {
  const { id: dagId, shard, tenantId, current } = dag;
  const { on, expect = [] } = current.spec;
  const isPlain = on !== undefined && 'event' in on && expect.length === 0;
  const taking = watchedBy(current.spec);
  const [event, triggers] = isPlain ? [on.event, {}] : [null, taking.length === 0 ? {} : { triggers: taking }];
  recorder.record({ kind: 'DagRevived', shard, tenantId, dagId, event, ...triggers, actor, at: recorder.state.now });
  setDefinitionSchedules(recorder, dag, schedulesOf(current.spec), actor);
  setExpectations(recorder, dag, expect);
}
