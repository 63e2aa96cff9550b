/**
 * The schedules of a definition. They are matched by name: one that has another name is another schedule, and the order in
 * which they are written does not matter. Those of the API are left alone.
 */
import { type Answer, refuse } from '../../model/answer.ts';
import type { NamedSchedule, ScheduleSpec } from '../../model/dag/spec.ts';
import type { Actor, DagId } from '../../model/ids.ts';
import { scheduleFault } from '../../model/schedule/schedule-fault.ts';
import type { Dag } from '../../tables/dag/dag.ts';
import { isSameSpec } from '../../tables/schedule/schedule.ts';
import type { State } from '../../tables/state.ts';
import type { Recorder } from '../recorder.ts';
import { addSchedule, changeSchedule, removeSchedule } from './set-schedule.ts';

/** Why a dag can't have these schedules; null when it can. */
export function refuseSchedules(state: State, dagId: DagId | null, wanted: readonly NamedSchedule[]): Answer | null {
  const { schedules, now, settings } = state;
  for (const { name, spec } of wanted) {
    const known = dagId === null ? undefined : schedules.named(dagId, name);
    if (known?.origin === 'api') return refuse('SCHEDULE_EXISTS', name);
    // One that has fired for the last time may stay in its definition.
    if (known !== undefined && isSameSpec(known.spec, spec)) continue;
    const fault = scheduleFault(spec, now, settings.zoneData);
    if (fault !== null) return refuse('SCHEDULE_INVALID', `${placeOf(wanted, name)}${fault.message} ${fault.remedy}`);
  }
  return null;
}

/** Why a dag whose tasks depend on the past can't have this schedule; null when it can. */
export function pastFault(hasPast: boolean, { ifRunning }: Pick<ScheduleSpec, 'ifRunning'>): string | null {
  if (!hasPast || ifRunning !== 'cancel_running') return null;
  return 'ifRunning: cancel_running cancels the run that tasks with dependsOnPast wait for, so they would wait for ever. Use queue_one or queue_all.';
}

/** Which of several it is. */
export function placeOf(wanted: readonly NamedSchedule[], name: string): string {
  return wanted.length > 1 ? `Schedule ${name}: ` : '';
}

export function setDefinitionSchedules(
  recorder: Recorder,
  dag: Dag,
  wanted: readonly NamedSchedule[],
  actor: Actor,
): void {
  const { schedules } = recorder.state;
  const names = new Set(wanted.map(({ name }) => name));
  for (const known of schedules.ofDag(dag.id)) {
    if (known.origin === 'definition' && !names.has(known.name)) removeSchedule(recorder, known, actor);
  }
  for (const { name, spec } of wanted) {
    const known = schedules.named(dag.id, name);
    if (known === undefined) addSchedule(recorder, dag, { name, spec, origin: 'definition', actor });
    else if (!isSameSpec(known.spec, spec)) {
      // What the server paused for a fault was another schedule. What a person has paused stays so.
      changeSchedule(recorder, known, { spec, paused: known.fault === null && known.paused, actor });
    }
  }
}
