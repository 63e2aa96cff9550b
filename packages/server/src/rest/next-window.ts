/** When a schedule fires next, for people: by the same function that the engine decides by. */
import { type DagId, type Instant, nextWindow, parseCron, type ScheduleSpec } from '@signalbox/engine';
import { zoneData } from '@signalbox/host';

const DAY_MS = 86_400_000;
const FIRST_SPAN_DAYS = 400;
const LAST_SPAN_DAYS = 40 * 366;

interface ShownSchedule {
  readonly spec: ScheduleSpec;
  readonly paused: boolean;
  readonly decidedUntil: Instant;
}

/** Null while it is paused, and for one that never fires. */
export function nextWindowOf(dagId: DagId, { spec, paused, decidedUntil }: ShownSchedule): Instant | null {
  const parsed = parseCron(spec.cron, String(dagId));
  if (paused || !parsed.ok) return null;
  for (let days = FIRST_SPAN_DAYS; ; days *= 4) {
    const until = (decidedUntil + Math.min(days, LAST_SPAN_DAYS) * DAY_MS) as Instant;
    const next = nextWindow(parsed.cron, zoneData(spec.zone, decidedUntil, until), decidedUntil, spec.gap);
    if (next.kind === 'fires') return next.atMs as Instant;
    if (next.kind === 'never' || days >= LAST_SPAN_DAYS) return null;
  }
}
