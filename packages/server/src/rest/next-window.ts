import type { DagId, Instant, ScheduleSpec } from '@signalbox/engine';

export function nextWindowOf(
  _dagId: DagId,
  _schedule: { readonly spec: ScheduleSpec; readonly paused: boolean; readonly decidedUntil: Instant },
): Instant | null {
  return null;
}
