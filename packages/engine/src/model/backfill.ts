/** A backfill: runs for a range of past windows of one schedule, some at a time. */
import type { ScheduleSpec } from './dag/spec.ts';
import type { Instant, ScheduleNo } from './ids.ts';

/**
 * `running` and `paused` are live; a backfill that has `ended` has decided all of its windows, and its runs have ended.
 * `stopped`: the server gave it up, and says why.
 */
export const BACKFILL_STATES = ['running', 'paused', 'ended', 'cancelled', 'stopped'] as const;
export type BackfillState = (typeof BACKFILL_STATES)[number];

/** Which windows get a run: those without one, those whose newest run failed, or all. */
export const BACKFILL_CHOICES = ['missing', 'failed', 'all'] as const;
export type BackfillChoice = (typeof BACKFILL_CHOICES)[number];

export type BackfillOrder = 'forward' | 'backward';

/** What was asked for. It does not change: an edit of the schedule does not alter a backfill that has started. */
export interface BackfillSpec {
  readonly scheduleNo: ScheduleNo;
  /** Its name at the start. */
  readonly scheduleName: string;
  /** The timetable that the schedule had. */
  readonly schedule: ScheduleSpec;
  /** The first and the last window may lie on these instants. */
  readonly fromAt: Instant;
  readonly toAt: Instant;
  readonly which: BackfillChoice;
  readonly order: BackfillOrder;
  /** The runs go up to this task or group. */
  readonly until?: string;
  /** Live runs of it, at most. */
  readonly maxActive: number;
  /** The part of the slots that its tasks may hold while other work waits: 0.05 is 5 %. */
  readonly share: number;
}

/** Used for a run whose backfill has ended, and was opened again by hand. */
export const DEFAULT_SHARE = 0.05;
export const MAX_ACTIVE_LIMIT = 100;

export function isLiveBackfill(state: BackfillState): boolean {
  return state === 'running' || state === 'paused';
}
