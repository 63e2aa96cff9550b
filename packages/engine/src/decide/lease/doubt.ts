/**
 * The time of an attempt is over, and its worker was not heard for a while: it is given up in time (I41), but nobody knows whether
 * it hung or its worker is gone. So it counts as lost, as it would have with a longer timeout, and is tried again as lost ones are.
 */

import { RUNNING } from '../../model/task/task-states.ts';
import type { State } from '../../tables/state.ts';
import { LOADED } from '../../tables/worker/confirmed.ts';
import type { Recorder } from '../recorder.ts';
import { endAttempt } from '../task/end-attempt.ts';
import { killAttempt } from './kill.ts';

/** Share of the lease after which a worker that was not heard is in doubt: two heartbeats, as they usually are. */
const DOUBT = 0.4;

/** Not heard for two heartbeats, or not at all since its attempt was loaded. */
function isInDoubt({ tasks, workers, mono, settings }: State, slot: number): boolean {
  if (tasks.state[slot] !== RUNNING) return false;
  if (tasks.confirmed[slot] === LOADED) return true;
  const { leaseMs, doubtfulMs = leaseMs * DOUBT } = settings;
  const heardAt = workers.at(tasks.worker[slot]!)!.leaseEndsAt - leaseMs;
  return mono - heardAt > doubtfulMs;
}

export interface Overdue {
  readonly outcome: 'timeout' | 'stuck';
  readonly code: string;
  readonly error: string;
}

/** The attempt has taken as long as it may, or longer than it may without progress. */
export function endOverdue(recorder: Recorder, slot: number, overdue: Overdue): void {
  const inDoubt = isInDoubt(recorder.state, slot);
  killAttempt(recorder, slot, inDoubt ? 'lost' : overdue.outcome);
  const error = 'The attempt timed out, and its worker had sent no heartbeat for a while.';
  endAttempt(recorder, slot, inDoubt ? { outcome: 'lost', code: 'lost:overdue', error } : overdue);
}
