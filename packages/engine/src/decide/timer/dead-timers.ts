/**
 * Timers are not removed when what they watch has ended: an attempt that takes a second leaves a timeout of a day behind. So
 * the heaps are swept from time to time, and hold at most twice as many entries as are alive (I73).
 */

import type { DagId, RunId, TaskNo, TaskSlot } from '../../model/ids.ts';
import { AWAITS_RETRY } from '../../model/task/task-states.ts';
import { NO_ATTEMPT } from '../../tables/attempt/attempt-table.ts';
import { attemptWith } from '../../tables/attempt/find-attempt.ts';
import type { State } from '../../tables/state.ts';
import { findTask } from '../../tables/task/find-task.ts';
import { isCurrentRunTimer, isRunTimer } from '../../tables/timer/run-timers.ts';
import type { Timer } from '../../tables/timer/timer-heap.ts';
import { isWatched } from '../../tables/timer/watch-pause.ts';
import { isCurrent, isTaskTimer } from './fire-task-timer.ts';

export function dropDeadTimers(state: State): void {
  if (state.timers.isDueForSweep()) state.timers.sweep((timer) => isLive(state, timer));
  state.windows.sweepIfDue();
}

/** The task still waits for the retry that the timer was set for. */
export function isCurrentRetry({ tasks }: State, slot: TaskSlot, timer: Timer): boolean {
  return AWAITS_RETRY[tasks.state[slot]!] === 1 && tasks.fence[slot] === timer.stamp;
}

function isLive(state: State, timer: Timer): boolean {
  if (timer.kind === 'lease') return state.workers.at(timer.subject)?.watchedAt === timer.at;
  if (timer.kind === 'held') return state.held.at(timer.subject)?.wakeAt === timer.at;
  if (timer.kind === 'budget') return state.breakers.budget.wakeAt === timer.at;
  if (timer.kind === 'breaker') return state.breakers.get(timer.subject as DagId, timer.stamp)?.wakeAt === timer.at;
  if (timer.kind === 'resume') {
    const run = state.runs.find(timer.subject as RunId);
    return run >= 0 && isWatched(state, run, timer.stamp);
  }
  if (timer.kind === 'past') {
    const run = state.runs.find(timer.subject as RunId);
    return run >= 0 && state.past.get(run)?.waitsFor != null;
  }
  if (isRunTimer(timer)) return isCurrentRunTimer(state, timer);
  const slot = findTask(state, { runId: timer.subject as RunId, taskNo: timer.taskNo as TaskNo });
  if (slot === null) return false;
  if (isTaskTimer(timer)) return isCurrent(state, slot, timer);
  if (timer.kind === 'retry') return isCurrentRetry(state, slot, timer);
  return attemptWith(state, slot, timer.stamp) !== NO_ATTEMPT;
}
