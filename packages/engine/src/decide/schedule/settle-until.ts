/** Before somebody else creates a run for a window: the schedule decides what it has due, so that it never does so later (I1). */
import type { Instant } from '../../model/ids.ts';
import type { Schedule } from '../../tables/schedule/schedule.ts';
import type { Recorder } from '../recorder.ts';
import { decideAllDue, skipUntil } from './decide-windows.ts';
import { removeIfOver } from './over.ts';

/**
 * A paused schedule skips its windows up to this instant. Those after it are still its own, and follow its policy when it is
 * resumed.
 */
export function settleUntil(recorder: Recorder, schedule: Schedule, until: Instant): void {
  const { state } = recorder;
  if (schedule.fault !== null) return;
  if (!schedule.paused) decideAllDue(recorder, schedule);
  else skipUntil(recorder, schedule, { until: Math.min(until, state.now) as Instant, reason: 'paused', by: 'at' });
  removeIfOver(recorder, schedule);
}
