/**
 * Tasks that run other dags. A ready one is parked at once: it gets a claim without a worker, the call is sent, and then the
 * task waits without a slot (I54). The parent asks again until the end is known, so lost messages do not matter. The attempt
 * ends only when the child run has ended, or will never exist, so no child outlives its call.
 */
import type { TaskSlot } from '../../model/ids.ts';
import { leadingOf } from '../../tables/attempt/find-attempt.ts';
import { isReady } from '../../tables/queue/enqueue.ts';
import type { State } from '../../tables/state.ts';
import { isCall } from '../../tables/task/is-call.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import { holdReady } from '../breaker/pass.ts';
import { claimAttempt } from '../match/claim-attempt.ts';
import type { Recorder } from '../recorder.ts';
import { endAttempt } from '../task/end-attempt.ts';
import { depthOf, sendCall } from './send-call.ts';

/** How deep calls can be nested, so a dag that calls itself ends. */
export const MAX_DEPTH = 16;

export function parkCalls(recorder: Recorder): void {
  const { calls } = recorder.state.agenda;
  for (const slot of calls) {
    if (recorder.isFull()) return;
    calls.delete(slot);
    // One that was paused may find that the breaker of what it failed with has opened meanwhile (I44).
    if (isReadyCall(recorder.state, slot) && !holdReady(recorder, slot)) parkCall(recorder, slot);
  }
}

function isReadyCall(state: State, slot: TaskSlot): boolean {
  const run = state.tasks.run[slot]!;
  // Noted again when the dag is resumed.
  if (run >= 0 && state.runs.versionOf(run).dag.isHalted) return false;
  // In this order: its map may have been removed in this step, and with it what there was to know of it.
  return run >= 0 && isReady(state, state.runs.id[run]!, slot) && isCall(state, slot) && mayRun(state, slot);
}

function parkCall(recorder: Recorder, slot: TaskSlot): void {
  const { state } = recorder;
  claimAttempt(recorder, slot, null);
  const attempt = leadingOf(state, slot);
  if (depthOf(state, state.tasks.run[slot]!) > MAX_DEPTH) {
    const error = `Calls are nested too deeply: at most ${MAX_DEPTH} runs can call each other in a row.`;
    endAttempt(recorder, attempt, { outcome: 'permanent', error, code: 'child:depth', isChildOver: true });
  } else sendCall(recorder, attempt, 'begin');
}
