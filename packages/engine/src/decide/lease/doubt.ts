/**
 * An attempt has timed out, and its worker was not heard for a while. It is given up in time (I41), but nobody knows whether
 * it hung or its worker is gone. So it counts as lost, as it would have with a longer timeout, and is retried as such.
 */

import type { AttemptSlot } from '../../model/ids.ts';
import { NO_WORKER } from '../../tables/attempt/attempt-table.ts';
import { LOADED } from '../../tables/attempt/confirmed.ts';
import type { State } from '../../tables/state.ts';
import type { Recorder } from '../recorder.ts';
import { endAttempt } from '../task/end-attempt.ts';
import { killAttempt } from './kill.ts';

/** Share of the lease after which a worker that was not heard is in doubt: two heartbeats, as they usually are. */
const DOUBT = 0.4;

/** Not heard for two heartbeats, or not at all since its attempt was loaded. */
function isInDoubt({ attempts, workers, mono, settings }: State, attempt: AttemptSlot): boolean {
  const workerNo = attempts.worker[attempt]!;
  if (workerNo === NO_WORKER) return false;
  if (attempts.confirmed[attempt] === LOADED) return true;
  const { leaseMs, doubtfulMs = leaseMs * DOUBT } = settings;
  const heardAt = workers.at(workerNo)!.leaseEndsAt - leaseMs;
  return mono - heardAt > doubtfulMs;
}

interface Overdue {
  readonly outcome: 'timeout' | 'stuck';
  readonly code: string;
  readonly error: string;
}

/** The attempt has taken as long as it may, or longer than it may without progress. */
export function endOverdue(recorder: Recorder, attempt: AttemptSlot, overdue: Overdue): void {
  const inDoubt = isInDoubt(recorder.state, attempt);
  killAttempt(recorder, attempt, inDoubt ? 'lost' : overdue.outcome);
  const error = 'The attempt timed out, and its worker had sent no heartbeat for a while.';
  endAttempt(recorder, attempt, inDoubt ? { outcome: 'lost', code: 'lost:overdue', error } : overdue);
}
