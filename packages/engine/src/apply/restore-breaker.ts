import type { StoredBreaker } from '../model/change.ts';
import { Breaker } from '../tables/breaker/breaker.ts';
import { watchBreaker } from '../tables/breaker/watch-breaker.ts';
import type { State } from '../tables/state.ts';
import { waitLeftMs } from '../tables/timer/stored-wait.ts';

/** Restores the stored part. The tasks that it holds reach it again when their backoff is over. */
export function restoreBreaker(state: State, stored: StoredBreaker): void {
  const breaker = new Breaker(stored);
  breaker.state = stored.state;
  breaker.pauseMs = stored.pauseMs;
  breaker.openedAt = stored.openedAt;
  breaker.since = stored.since;
  state.breakers.set(breaker);
  const { since, pauseMs } = stored;
  const leftMs = waitLeftMs(state, { from: since, until: since + pauseMs });
  watchBreaker(state, breaker, stored.state === 'ramping' ? 0 : leftMs);
}
