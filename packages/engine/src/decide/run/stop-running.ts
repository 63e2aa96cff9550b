import type { RunRow } from '../../model/ids.ts';
import { HOLDS_CLAIM, WAITING } from '../../model/task/task-states.ts';
import { graceOf } from '../../tables/attempt/claim-of.ts';
import { attemptsOfTask } from '../../tables/attempt/find-attempt.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import { forEachSlot } from '../../tables/task/task-slots.ts';
import { setTaskTimer } from '../../tables/timer/set-task-timer.ts';
import { stopCall } from '../child/stop-call.ts';
import { killAttempt } from '../lease/kill.ts';
import type { Recorder } from '../recorder.ts';

/** The run closes early or is forced to end: attempts that must not continue are told to stop. */
export function stopRunning(recorder: Recorder, run: RunRow): void {
  const { state } = recorder;
  forEachSlot(state, run, (slot) => {
    const code = state.tasks.state[slot]!;
    if (HOLDS_CLAIM[code] === 0 || mayRun(state, slot)) return;
    for (const attempt of attemptsOfTask(state, slot)) {
      // Its child run is stopped, and it ends with that: nothing is forced before.
      if (code === WAITING) return stopCall(recorder, attempt, null);
      const claim = killAttempt(recorder, attempt, 'cancelled');
      // The worker has its grace; one that does not answer is ended by the server (I42).
      setTaskTimer(state, 'kill', graceOf(state, run) + state.settings.leaseMs, claim);
    }
  });
}
