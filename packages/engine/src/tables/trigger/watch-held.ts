import type { State } from '../state.ts';
import { waitLeftMs } from '../timer/stored-wait.ts';
import type { HeldEvents } from './held-events.ts';

/** A timer for when the run is made. Of one that was set before, only the last counts. */
export function watchHeld(state: State, held: HeldEvents): void {
  const { openedAt, heldAt, firesAt } = held;
  held.openedMono = state.mono - Math.max(0, state.now - heldAt) - (heldAt - openedAt);
  held.wakeAt = state.mono + waitLeftMs(state, { from: heldAt, until: firesAt });
  state.timers.push({ at: held.wakeAt, kind: 'held', subject: held.no, taskNo: 0, stamp: 0 });
}
