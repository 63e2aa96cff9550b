import type { State } from '../state.ts';
import type { HeldEvents } from './held-events.ts';

/** A timer for when the run is made. Of one that was set before, only the last counts. */
export function watchHeld(state: State, held: HeldEvents): void {
  // What is left of it, and never more than it was when the last event came: the clock may have gone back (I53).
  const leftMs = Math.min(Math.max(held.firesAt - state.now, 0), held.firesAt - held.heldAt);
  held.wakeAt = state.mono + leftMs;
  state.timers.push({ at: held.wakeAt, kind: 'held', subject: held.no, taskNo: 0, stamp: 0 });
}
