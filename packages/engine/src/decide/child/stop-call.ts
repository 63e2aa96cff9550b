/** A call that is to end before its time: its child run is cancelled, and the attempt ends when that has ended. */

import type { State, StopOfCall } from '../../tables/state.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import type { Recorder } from '../recorder.ts';
import { sendCall } from './send-call.ts';

/** `as` is how the attempt ends; null where its run is closing, which says enough. */
export function stopCall(recorder: Recorder, slot: number, as: StopOfCall | null): void {
  if (as !== null) {
    const { outcome, error, code = null, isLast = false } = as;
    const { stopping } = recorder.state;
    // The first reason stays; but once the time of the whole task is over there is no other attempt, whatever else is over too (I41).
    if (isLast || !stopping.has(slot)) stopping.set(slot, { outcome, error, code, isLast });
  }
  sendCall(recorder, slot, 'stop');
}

export function isStopping(state: State, slot: number): boolean {
  return state.stopping.has(slot) || !mayRun(state, slot);
}

/** Word of its end may have been lost: asked again for as long as it is not known (I72). */
export function askAgain(recorder: Recorder, slot: number): void {
  sendCall(recorder, slot, isStopping(recorder.state, slot) ? 'stop' : 'ask');
}
