import { type Answer, DONE, refuse } from '../../model/answer.ts';
import type { SetSchedulePaused } from '../../model/command.ts';
import type { DagId } from '../../model/ids.ts';
import type { Schedule } from '../../tables/schedule/schedule.ts';
import type { State } from '../../tables/state.ts';
import type { Recorder } from '../recorder.ts';
import { dagOf, delayedRunOf } from './api-schedules.ts';
import { isDelayedRun, setDelayedPaused } from './delayed-run.ts';
import { changeSchedule } from './set-schedule.ts';

/** One step alters no more schedules of a dag together than this. */
export const MAX_TOGETHER = 1_000;

/** Pauses or resumes one schedule, whatever its origin, or all of a dag. */
export function setSchedulePaused(recorder: Recorder, command: SetSchedulePaused): Answer {
  const { schedules } = recorder.state;
  const { dagId, name, paused, actor } = command;
  const delayed = name === undefined ? null : delayedRunOf(recorder.state, command, name);
  if (delayed !== null) {
    if (delayed.paused !== paused) setDelayedPaused(recorder, delayed, paused, actor);
    return DONE;
  }
  const dag = dagOf(recorder.state, command);
  if (dag === null) return refuse('DAG_NOT_FOUND');
  // Delayed runs are not part of its timetable: who has asked for one pauses it by itself.
  const own = name === undefined ? ownSchedulesOf(recorder.state, dagId) : [];
  if (own.length > MAX_TOGETHER) return refuse('TOO_MANY_SCHEDULES', String(MAX_TOGETHER));
  const chosen = name === undefined ? own : [schedules.named(dagId, name)];
  if (chosen.every((known) => known === undefined)) return refuse('SCHEDULE_NOT_FOUND', name ?? 'of any name');
  for (const known of chosen) {
    if (known !== undefined && known.paused !== paused) changeSchedule(recorder, known, { paused, actor });
  }
  return DONE;
}

/** The schedules of a dag, without its delayed runs. */
export function ownSchedulesOf({ schedules }: State, dagId: DagId): readonly Schedule[] {
  return schedules.ofDag(dagId).filter((schedule) => !isDelayedRun(schedule));
}
