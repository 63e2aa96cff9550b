import { setTaskTimer } from '../apply/apply-task.ts';
import { killAttempt } from '../lease/kill.ts';
import type { Recorder } from '../recorder.ts';
import { RUNNING } from '../task/task-table.ts';

/** The run is closed before its time: the attempts that run are told to stop. */
export function stopRunning(recorder: Recorder, run: number): void {
  const { state } = recorder;
  const base = state.runs.base[run]!;
  const { taskCount } = state.runs.versionOf(run);
  for (let slot = base; slot < base + taskCount; slot++) {
    if (state.tasks.state[slot] !== RUNNING) continue;
    const claim = killAttempt(recorder, slot, 'cancelled');
    // The worker has its grace; one that does not answer is ended by the server (I42).
    setTaskTimer(state, 'kill', state.settings.graceMs + state.settings.leaseMs, claim);
  }
}
