import { type Answer, DONE, refuse } from '../../model/answer.ts';
import type { SetSchedulePaused } from '../../model/command.ts';
import type { Recorder } from '../recorder.ts';
import { dagOf } from './api-schedules.ts';
import { changeSchedule } from './set-schedule.ts';

/** One step alters no more schedules of a dag together than this. */
export const MAX_TOGETHER = 1_000;

/** Pauses or resumes one schedule, whatever its origin, or all of a dag. */
export function setSchedulePaused(recorder: Recorder, command: SetSchedulePaused): Answer {
  const { schedules } = recorder.state;
  const { dagId, name, paused, actor } = command;
  const dag = dagOf(recorder.state, command);
  if (dag === null) return refuse('DAG_NOT_FOUND');
  if (name === undefined && schedules.countOf(dagId) > MAX_TOGETHER) {
    return refuse('TOO_MANY_SCHEDULES', String(MAX_TOGETHER));
  }
  const chosen = name === undefined ? schedules.ofDag(dagId) : [schedules.named(dagId, name)];
  if (chosen.every((known) => known === undefined)) return refuse('SCHEDULE_NOT_FOUND', name ?? 'of any name');
  for (const known of chosen) {
    if (known !== undefined && known.paused !== paused) changeSchedule(recorder, known, { paused, actor });
  }
  return DONE;
}
