/** When a schedule fires next, computed by the same function that the engine uses. */
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

/** The next ones after what was decided, also of a schedule that is paused. */
export function nextWindowsOf(
  dagId: DagId,
  { spec, decidedUntil }: Omit<ShownSchedule, 'paused'>,
  count: number,
): Instant[] {
  const parsed = parseCron(spec.cron, String(dagId));
  const found: Instant[] = [];
  let after = decidedUntil;
  while (parsed.ok && found.length < count) {
    const next = windowAfter(parsed.cron, spec, after, zoneData);
    if (next === null) break;
    found.push(next);
    after = next;
  }
  return found;
}

/** How far the clock of a zone is ahead of UTC. */
export function offsetMinutesAt(zone: string, at: Instant): number {
  const { initialOffsetMs, transitions } = zoneData(zone, at, at);
  return (transitions.findLast(({ atMs }) => atMs <= at)?.offsetMs ?? initialOffsetMs) / 60_000;
}
