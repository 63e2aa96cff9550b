/** A schedule in the working set: which windows are decided, and when the next one comes. */
import { assert } from '../assert.ts';
import type { ScheduleSpec } from '../dag/spec.ts';
import type { DagId, Instant, ShardNo } from '../ids.ts';
import type { State } from '../state.ts';
import { type Cron, parseCron } from './cron.ts';
import { windowAfter } from './window-after.ts';

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

export function makeSchedule(stored: Omit<Schedule, 'cron'>): Schedule {
  if (stored.fault !== null) return { ...stored, cron: null };
  const parsed = parseCron(stored.spec.cron, String(stored.dagId));
  assert(parsed.ok, `a stored schedule has a cron expression that parses: ${stored.spec.cron}`);
  return { ...stored, cron: parsed.cron };
}

/** The first window after this instant; null when there is none. */
export function nextOf(state: State, { cron, spec }: Pick<Schedule, 'cron' | 'spec'>, after: Instant): Instant | null {
  return cron === null ? null : windowAfter(cron, spec, after, state.settings.zoneData);
}

/** Puts the next window into the heap of windows. */
export function watchSchedule(state: State, schedule: Schedule): void {
  if (schedule.paused) return;
  const next = nextOf(state, schedule, schedule.decidedUntil);
  if (next === null) return;
  state.windows.push({
    at: next,
    kind: 'window',
    subject: schedule.dagId,
    taskNo: 0,
    stamp: schedule.revision,
  });
}
