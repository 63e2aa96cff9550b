/** What a schedule does with its windows: those that were missed, those that come while another run is active. */

import type { RequirementPolicy } from './requirement.ts';

/** Runs none of the missed windows, only the newest, or the newest up to `missedLimit`. */
type MissedPolicy = 'skip' | 'most_recent' | 'catchup';
/** The words of versions before: stored schedules have them. */
type OldMissedPolicy = 'latest' | 'all';

export const OVERLAP_POLICIES = ['allow', 'skip', 'queue_one', 'queue_all', 'cancel_running'] as const;
/**
 * What a window does while the dag has active runs, whatever created them. `allow`: runs beside them, up to `maxActiveRuns` of the dag.
 * `skip`: is skipped. `queue_one`: waits until they have ended, unless a run waits already. `queue_all`: waits. `cancel_running`:
 * cancels them, and runs when they have ended.
 */
export type OverlapPolicy = (typeof OVERLAP_POLICIES)[number];

export interface SchedulePolicy extends RequirementPolicy {
  readonly missed: MissedPolicy | OldMissedPolicy;
  /** With `catchup`: no more than this many of the newest missed windows; older ones are recorded as skipped (I8). */
  readonly missedLimit: number;
  /** Missed windows that are older than this are skipped. */
  readonly missedMaxAgeMs?: number;
  /** A window that is decided later than this after its time is skipped. */
  readonly startWithinMs?: number;
  /** `allow` unless told. */
  readonly ifRunning?: OverlapPolicy;
  /** Has a run as soon as it is created. */
  readonly runNow?: true;
  /** JSON text of the params of its runs; those of the dag's defaults unless told. */
  readonly params?: string;
  /** Of its runs; the dag's unless told. */
  readonly priority?: 'critical' | 'high' | 'normal' | 'low';
}

export function missedPolicyOf({ missed }: Pick<SchedulePolicy, 'missed'>): MissedPolicy {
  if (missed === 'latest') return 'most_recent';
  return missed === 'all' ? 'catchup' : missed;
}

/**
 * A run of it waits until the dag has no active run. Under `skip` too: its own windows never wait, but a run that waited before the
 * schedule was edited to it does.
 */
export function waitsForOthers({ ifRunning = 'allow' }: SchedulePolicy): boolean {
  return ifRunning !== 'allow';
}
