import { setTaskTimer } from '../apply/apply-task.ts';
import { stopCall } from '../child/stop-call.ts';
import { graceOf, killAttempt } from '../lease/kill.ts';
import type { Recorder } from '../recorder.ts';
import { shadowOf } from '../straggler/seconds.ts';
import { mayRun } from '../task/move.ts';
import { RUNNING, WAITING } from '../task/task-table.ts';
import { forEachSlot } from './task-slots.ts';

/** The run is closed before its time, or forced to its end: the attempts that may not go on are told to stop. */
export function stopRunning(recorder: Recorder, run: number): void {
  const { state } = recorder;
  forEachSlot(state, run, (slot) => {
    const code = state.tasks.state[slot];
    if ((code !== RUNNING && code !== WAITING) || mayRun(state, slot)) return;
    // Its child run is stopped, and it ends with that: nothing is forced before.
    if (code === WAITING) return stopCall(recorder, slot, null);
    for (const held of [slot, shadowOf(state, slot)]) {
      if (held < 0) continue;
      const claim = killAttempt(recorder, held, 'cancelled');
      // The worker has its grace; one that does not answer is ended by the server (I42).
      setTaskTimer(state, 'kill', graceOf(state, run) + state.settings.leaseMs, claim);
    }
  });
}
