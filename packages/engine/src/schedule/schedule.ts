/** A schedule in the working set: which windows are decided, and when the next one comes. */
import { assert } from '../assert.ts';
import type { ScheduleSpec } from '../dag/spec.ts';
import type { DagId, Instant, ShardNo } from '../ids.ts';
import type { State } from '../state.ts';
import { type Cron, nextWindow, parseCron } from './cron.ts';
import type { ZoneData } from './zone.ts';

export interface Schedule {
  readonly shard: ShardNo;
  readonly dagId: DagId;
  readonly revision: number;
  readonly spec: ScheduleSpec;
  /** Null while it has a fault: nothing of it is looked at. */
  readonly cron: Cron | null;
  readonly paused: boolean;
  readonly fault: string | null;
  /** Windows up to here are decided. Only grows: a clock that goes back fires nothing again (I5). */
  decidedUntil: Instant;
}

const DAY_MS = 86_400_000;
/** How far ahead zone data is asked for at first; rare expressions ask for more. */
const FIRST_SPAN_DAYS = 400;
/** The calendar repeats after 400 years; an expression that fires in none of the first 40 is told as never. */
const LAST_SPAN_DAYS = 40 * 366;

export function makeSchedule(stored: Omit<Schedule, 'cron'>): Schedule {
  if (stored.fault !== null) return { ...stored, cron: null };
  const parsed = parseCron(stored.spec.cron, String(stored.dagId));
  assert(parsed.ok, `a stored schedule has a cron expression that parses: ${stored.spec.cron}`);
  return { ...stored, cron: parsed.cron };
}

/** The first window after this instant; null when there is none. */
export function windowAfter(state: State, schedule: Pick<Schedule, 'cron' | 'spec'>, after: Instant): Instant | null {
  const { cron } = schedule;
  if (cron === null) return null;
  for (let days = FIRST_SPAN_DAYS; ; days *= 4) {
    const until = (after + Math.min(days, LAST_SPAN_DAYS) * DAY_MS) as Instant;
    const zone = zoneBetween(state, schedule.spec.zone, after, until);
    // Zone data may lose a name on upgrade. That schedule then has no windows; all others go on (I57).
    if (zone === null) return null;
    const next = nextWindow(cron, zone, after, schedule.spec.gap);
    if (next.kind === 'fires') return next.atMs as Instant;
    if (next.kind === 'never' || days >= LAST_SPAN_DAYS) return null;
  }
}

/** Null for a zone that nobody knows. */
export function zoneBetween(state: State, name: string, from: Instant, until: Instant): ZoneData | null {
  try {
    return state.settings.zoneData(name, from, until);
  } catch {
    return null;
  }
}

/** Puts the next window into the heap of windows. */
export function watchSchedule(state: State, schedule: Schedule): void {
  if (schedule.paused) return;
  const next = windowAfter(state, schedule, schedule.decidedUntil);
  if (next === null) return;
  state.windows.push({
    at: next,
    kind: 'window',
    subject: schedule.dagId,
    taskNo: 0,
    stamp: schedule.revision,
  });
}
