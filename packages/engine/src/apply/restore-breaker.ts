import type { StoredBreaker } from '../model/stored.ts';
import { Breaker } from '../tables/breaker/breaker.ts';
import { watchBreaker } from '../tables/breaker/watch-breaker.ts';
import type { State } from '../tables/state.ts';

/** Restores the stored part. The tasks that it holds reach it again when their backoff is over. */
export function restoreBreaker(state: State, stored: StoredBreaker): void {
  const breaker = new Breaker(stored);
  breaker.state = stored.state;
  breaker.pauseMs = stored.pauseMs;
  breaker.openedAt = stored.openedAt;
  breaker.since = stored.since;
  state.breakers.set(breaker);
  // What is left of the pause, and never more than all of it: the clock may have gone back.
  const leftMs = stored.since + stored.pauseMs - state.now;
  watchBreaker(state, breaker, stored.state === 'ramping' ? 0 : Math.min(Math.max(leftMs, 0), stored.pauseMs));
}
