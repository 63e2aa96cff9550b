import type { State } from '../state.ts';
import type { Breaker } from './breaker.ts';

export function watchBreaker(state: State, breaker: Breaker, delayMs: number): void {
  breaker.wakeAt = state.mono + Math.max(1, delayMs);
  state.timers.push({
    at: breaker.wakeAt,
    kind: 'breaker',
    subject: breaker.dagId,
    taskNo: 0,
    stamp: breaker.fingerprint,
  });
}
