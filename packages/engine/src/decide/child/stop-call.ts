/** Stops a call early: its child run is cancelled, and the attempt ends when the child has ended. */

import type { AttemptSlot } from '../../model/ids.ts';
import type { StopOfCall } from '../../tables/attempt/attempt-table.ts';
import type { State } from '../../tables/state.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import type { Recorder } from '../recorder.ts';
import { sendCall } from './send-call.ts';

/** `as` is how the attempt ends; null where its run is closing, which says enough. */
export function stopCall(recorder: Recorder, attempt: AttemptSlot, as: StopOfCall | null): void {
  if (as !== null) {
    const { outcome, error, code = null, isLast = false } = as;
    const { stopping } = recorder.state.attempts;
    // The first reason stays; but once the time of the whole task is over there is no other attempt, whatever else is over too (I41).
    if (isLast || !stopping.has(attempt)) stopping.set(attempt, { outcome, error, code, isLast });
  }
  sendCall(recorder, attempt, 'stop');
}

export function isStopping(state: State, attempt: AttemptSlot): boolean {
  return state.attempts.stopping.has(attempt) || !mayRun(state, state.attempts.task[attempt]!);
}

/** Word of its end may have been lost: asked again for as long as it is not known (I72). */
export function askAgain(recorder: Recorder, attempt: AttemptSlot): void {
  sendCall(recorder, attempt, isStopping(recorder.state, attempt) ? 'stop' : 'ask');
}
