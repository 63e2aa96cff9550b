/** When a schedule fires next. */
import type { Instant } from '../../model/ids.ts';
import { type Window, windowAfter } from '../../model/schedule/window-after.ts';
import type { State } from '../state.ts';
import type { Schedule } from './schedule.ts';

/** The first window after this nominal time; null when there is none. */
export function nextOf(
  { settings }: State,
  { timetable, fired }: Pick<Schedule, 'timetable' | 'fired'>,
  after: Instant,
): Window | null {
  if (timetable === null) return null;
  const defaultJitterMs = settings.defaultJitterMs?.() ?? 0;
  return windowAfter(timetable, after, settings.zoneData, { firedSoFar: fired, defaultJitterMs });
}

/** Puts the next window into the wheel of windows, by when it fires. */
export function watchSchedule(state: State, schedule: Schedule): void {
  watchNext(state, schedule, schedule.paused ? null : nextOf(state, schedule, schedule.decidedUntil));
}

/** The same, for one whose next window is known; null when it has none. */
export function watchNext(state: State, schedule: Schedule, next: Window | null): void {
  schedule.watch = null;
  if (next !== null && !schedule.paused) watchAt(state, schedule, next.firesAt);
}

export function watchAt(state: State, schedule: Schedule, at: Instant): void {
  schedule.watch = { at, schedule };
  state.windows.push(schedule.watch);
}
