import type { State } from '../state.ts';
import type { Timer } from './timer-heap.ts';

/** On the clock that never jumps, from the moment of the decision (I40, I41). */
export function setTaskTimer(
  state: State,
  kind: Extract<Timer['kind'], 'timeout' | 'retry' | 'kill' | 'call' | 'soft' | 'stuck' | 'pace'>,
  delayMs: number,
  task: { readonly runId: number; readonly taskNo: number; readonly fence: number },
): void {
  state.timers.push({
    at: state.mono + Math.max(0, delayMs),
    kind,
    subject: task.runId,
    taskNo: task.taskNo,
    stamp: task.fence,
  });
}
