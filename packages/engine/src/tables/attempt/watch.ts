/** The deadlines of a running attempt, on the clock that never jumps. */
import type { AttemptSlot } from '../../model/ids.ts';
import type { State } from '../state.ts';
import type { AttemptWatch } from './attempt-table.ts';

export function watchOf({ attempts }: State, attempt: AttemptSlot): AttemptWatch {
  let watch = attempts.watches.get(attempt);
  if (watch === undefined) {
    watch = {};
    attempts.watches.set(attempt, watch);
  }
  return watch;
}

/** Progress is never taken back: a report that was overtaken on the way counts too. */
export function hearProgress(state: State, attempt: AttemptSlot, at: number): void {
  const watch = watchOf(state, attempt);
  watch.progressAt = Math.max(watch.progressAt ?? at, at);
}

/** An attempt that never reports progress counts from its start. */
export function progressAt({ attempts }: State, attempt: AttemptSlot): number {
  return Math.max(attempts.watches.get(attempt)?.progressAt ?? 0, attempts.claimedMono[attempt]!);
}
