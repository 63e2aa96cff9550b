/** Schedules that are created, edited and deleted without a deploy. Those of the definition can only be paused here. */
import { type Answer, DONE, refuse } from '../../model/answer.ts';
import type { CreateSchedules, DeleteSchedule, EditSchedule } from '../../model/command.ts';
import { MAX_SCHEDULE_NO } from '../../model/ids.ts';
import { scheduleFault } from '../../model/schedule/schedule-fault.ts';
import type { Dag } from '../../tables/dag/dag.ts';
import { isSameSpec, type Schedule, spreadSeedOf } from '../../tables/schedule/schedule.ts';
import type { State } from '../../tables/state.ts';
import type { Recorder } from '../recorder.ts';
import { pastFault, placeOf } from './definition-schedules.ts';
import { dropDelayedRun, isDelayedRun } from './delayed-run.ts';
import { passedFault } from './over.ts';
import { addSchedule, changeSchedule, removeSchedule } from './set-schedule.ts';

export function createSchedules(recorder: Recorder, command: CreateSchedules): Answer {
  const { state } = recorder;
  const dag = dagOf(state, command);
  if (dag === null) return refuse('DAG_NOT_FOUND');
  const { schedules: wanted, dagId, actor } = command;
  if (dag.lastScheduleNo + wanted.length > MAX_SCHEDULE_NO)
    return refuse('TOO_MANY_SCHEDULES', String(MAX_SCHEDULE_NO));
  const names = new Set<string>();
  for (const { name, spec } of wanted) {
    const known = state.schedules.named(dagId, name);
    if (names.has(name) || (known !== undefined && !(known.origin === 'api' && isSameSpec(known.spec, spec)))) {
      return refuse('SCHEDULE_EXISTS', name);
    }
    names.add(name);
    const contradiction = pastFault(dag.current.pastTasks.length > 0, spec);
    if (known === undefined && contradiction !== null) {
      return refuse('SCHEDULE_INVALID', `${placeOf(wanted, name)}${contradiction}`);
    }
    if (known !== undefined) continue;
    const seed = spreadSeedOf({ dagId, name });
    const fault = scheduleFault(spec, state.now, state.settings.zoneData, seed) ?? passedFault(state, spec);
    if (fault !== null) {
      return refuse('SCHEDULE_INVALID', `${placeOf(wanted, name)}${fault.message} ${fault.remedy}`);
    }
  }
  for (const { name, spec } of wanted) {
    if (state.schedules.named(dagId, name) !== undefined) continue;
    addSchedule(recorder, dag, { name, spec, origin: 'api', actor });
  }
  return DONE;
}

export function editSchedule(recorder: Recorder, command: EditSchedule): Answer {
  const { state } = recorder;
  const known = ownSchedule(state, command);
  if ('ok' in known) return known;
  const { spec, actor } = command;
  if (isSameSpec(known.spec, spec)) return DONE;
  const hasPast = (state.dags.get(known.dagId)?.current.pastTasks.length ?? 0) > 0;
  const contradiction = pastFault(hasPast, spec);
  if (contradiction !== null) return refuse('SCHEDULE_INVALID', contradiction);
  const fault = scheduleFault(spec, state.now, state.settings.zoneData) ?? passedFault(state, spec, known);
  if (fault !== null) return refuse('SCHEDULE_INVALID', `${fault.message} ${fault.remedy}`);
  changeSchedule(recorder, known, { spec, paused: known.fault === null && known.paused, actor });
  return DONE;
}

export function deleteSchedule(recorder: Recorder, command: DeleteSchedule): Answer {
  const delayed = delayedRunOf(recorder.state, command, command.name);
  if (delayed !== null) {
    dropDelayedRun(recorder, delayed, command.actor);
    return DONE;
  }
  const known = ownSchedule(recorder.state, command);
  if ('ok' in known) return known;
  removeSchedule(recorder, known, command.actor);
  return DONE;
}

/** The schedule that a command names, if the API may alter it. */
function ownSchedule(state: State, command: EditSchedule | DeleteSchedule): Schedule | Answer {
  if (dagOf(state, command) === null) return refuse('DAG_NOT_FOUND');
  const known = state.schedules.named(command.dagId, command.name);
  if (known === undefined) return refuse('SCHEDULE_NOT_FOUND', command.name);
  // A delayed run is no schedule of its dag: it can be cancelled and paused, and nothing else.
  if (isDelayedRun(known)) return refuse('SCHEDULE_NOT_FOUND', command.name);
  return known.origin === 'api' ? known : refuse('SCHEDULE_OF_DEFINITION', command.name);
}

/** Also one of a dag that was deleted. */
export function delayedRunOf(
  { dags, schedules }: State,
  { dagId, tenantId }: Pick<DeleteSchedule, 'dagId' | 'tenantId'>,
  name: string,
): Schedule | null {
  const known = dags.get(dagId)?.tenantId === tenantId ? schedules.named(dagId, name) : undefined;
  return known !== undefined && isDelayedRun(known) ? known : null;
}

/** Null for one that is not the caller's, or makes no runs. */
export function dagOf(
  { dags }: State,
  { dagId, tenantId }: { readonly dagId: Dag['id']; readonly tenantId: Dag['tenantId'] },
): Dag | null {
  const dag = dags.get(dagId);
  return dag === undefined || dag.tenantId !== tenantId || dag.isRetired ? null : dag;
}
