/** Commands of the host itself: decisions that threw, and the passing of time. */
import type { RunId, ScheduleId, ShardNo } from '../ids.ts';

/** A decision about this run threw (I57). */
export interface StrikeRun {
  readonly kind: 'StrikeRun';
  readonly runId: RunId;
  readonly reason: string;
  /** At once, whatever its strikes: it can't even be loaded, or its load ended the process. */
  readonly setAside: boolean;
}

/** A decision about this schedule threw (I57). */
export interface StrikeSchedule {
  readonly kind: 'StrikeSchedule';
  readonly shard: ShardNo;
  readonly scheduleId: ScheduleId;
  readonly reason: string;
}

/** Time has passed: due windows, timeouts, leases, retries. */
export interface Tick {
  readonly kind: 'Tick';
}
