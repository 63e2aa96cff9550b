/** When a schedule fires next. */
import type { Instant } from '../../model/ids.ts';
import { windowAfter } from '../../model/schedule/window-after.ts';
import type { State } from '../state.ts';
import type { Schedule } from './schedule.ts';

/** The first window after this instant; null when there is none. */
export function nextOf(state: State, { timetable }: Pick<Schedule, 'timetable'>, after: Instant): Instant | null {
  return timetable === null ? null : windowAfter(timetable, after, state.settings.zoneData);
}

/** Puts the next window into the heap of windows. */
export function watchSchedule(state: State, schedule: Schedule): void {
  if (schedule.paused) return;
  const next = nextOf(state, schedule, schedule.decidedUntil);
  if (next === null) return;
  state.windows.push({
    at: next,
    kind: 'window',
    subject: schedule.id,
    taskNo: 0,
    stamp: schedule.revision,
  });
}
