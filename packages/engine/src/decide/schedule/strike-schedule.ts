import { type Answer, DONE } from '../../model/answer.ts';
import { RESIDENT } from '../../model/change/schedule.ts';
import type { StrikeSchedule } from '../../model/command.ts';
import type { Actor } from '../../model/ids.ts';
import { mustStay } from '../../tables/schedule/due.ts';
import { storedOf } from '../../tables/schedule/schedule.ts';
import type { Recorder } from '../recorder.ts';

const SYSTEM = 'system' as Actor;

/** Deciding its windows threw: it is paused, and says why. Nothing is computed here, for that is what went wrong (I57). */
export function strikeSchedule(recorder: Recorder, command: StrikeSchedule): Answer {
  const { state } = recorder;
  const known = state.schedules.get(command.scheduleId);
  if (known === undefined || known.fault !== null) return DONE;
  const { decidedUntil } = known;
  const set = {
    ...storedOf(known),
    revision: known.revision + 1,
    paused: true,
    decidedUntil,
    fault: command.reason,
    dueAt: mustStay(state, known) ? RESIDENT : null,
  };
  recorder.record({ kind: 'ScheduleSet', ...set, actor: SYSTEM, at: state.now });
  return DONE;
}
