/** When a schedule fires next, for people: by the same function that the engine decides by. */
import { type DagId, type Instant, parseCron, type ScheduleSpec, windowAfter } from '@signalbox/engine';
import { zoneData } from '@signalbox/protocol/zones';

interface ShownSchedule {
  readonly spec: ScheduleSpec;
  readonly paused: boolean;
  readonly decidedUntil: Instant;
}

/** Null while it is paused, and for one that never fires. */
export function nextWindowOf(dagId: DagId, { spec, paused, decidedUntil }: ShownSchedule): Instant | null {
  const parsed = parseCron(spec.cron, String(dagId));
  return paused || !parsed.ok ? null : windowAfter(parsed.cron, spec, decidedUntil, zoneData);
}
