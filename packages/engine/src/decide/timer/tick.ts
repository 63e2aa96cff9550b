/** What time brings: due windows, retries, timeouts, lost workers, claims that never arrived. */

import type { DagId, Fence, RunId, TaskNo } from '../../model/ids.ts';
import { AWAITS_RETRY, WAITING } from '../../model/task/task-states.ts';
import { watchSchedule } from '../../tables/schedule/watch-schedule.ts';
import { findTask, isHeld } from '../../tables/task/find-task.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import { isRunTimer } from '../../tables/timer/run-timers.ts';
import { setTaskTimer } from '../../tables/timer/set-task-timer.ts';
import type { Timer } from '../../tables/timer/timer-heap.ts';
import { OVERDUE, UNCONFIRMED } from '../../tables/worker/confirmed.ts';
import { watchLease } from '../../tables/worker/lease.ts';
import { passRetry, wakeBudget } from '../breaker/pass.ts';
import { wakeBreaker } from '../breaker/wake.ts';
import { askAgain } from '../child/stop-call.ts';
import { endOverdue } from '../lease/doubt.ts';
import { endLease } from '../lease/end-lease.ts';
import { endPause } from '../manual/pause.ts';
import { giveBack } from '../match/loan.ts';
import type { Recorder } from '../recorder.ts';
import { decideDueWindows } from '../schedule/decide-windows.ts';
import { firePaceTimer } from '../speculative/watch.ts';
import { endAttempt } from '../task/end-attempt.ts';
import { deadlineOf } from '../task/extend.ts';
import { isCurrentWindow } from './dead-timers.ts';
import { fireRunTimer } from './fire-run-timer.ts';
import { fireTaskTimer, isTaskTimer } from './fire-task-timer.ts';

export function tick(recorder: Recorder): void {
  askForSign(recorder);
  const { state } = recorder;
  for (let timer = state.timers.peek(); timer !== undefined && timer.at <= state.mono; timer = state.timers.peek()) {
    if (recorder.isFull()) return;
    state.timers.pop();
    fireTimer(recorder, timer);
  }
  openWindows(recorder);
}

/** When something is due next: by the clock that never jumps, and by the wall clock. */
export function nextDue({ state }: Pick<Recorder, 'state'>): {
  readonly mono: number | null;
  readonly wall: number | null;
} {
  const timer = state.timers.peek()?.at ?? null;
  const sent = state.sent.nextDueAt(state.settings.undeliveredMs);
  const mono = timer === null ? sent : sent === null ? timer : Math.min(timer, sent);
  return { mono, wall: state.windows.peek()?.at ?? null };
}

/** Windows that are due now, with the schedule each belongs to. */
export function dueSchedules({ state }: Pick<Recorder, 'state'>): readonly DagId[] {
  const top = state.windows.peek();
  if (top === undefined || top.at > state.now) return [];
  return state.windows.due(state.now, state.settings.changesPerStep).map((timer) => timer.subject as DagId);
}

function openWindows(recorder: Recorder): void {
  const { state } = recorder;
  // No timer of a run is to blame for what a schedule does.
  state.currentRun = null;
  for (let timer = state.windows.peek(); timer !== undefined && timer.at <= state.now; timer = state.windows.peek()) {
    if (recorder.isFull()) return;
    const schedule = isCurrentWindow(state, timer) ? state.schedules.get(timer.subject as DagId) : undefined;
    // Its dag comes with the needs of the next tick: one that became due since the needs were asked waits for that.
    if (schedule !== undefined && state.dags.get(schedule.dagId) === undefined) return;
    state.windows.pop();
    state.currentSchedule = schedule ?? null;
    if (schedule !== undefined && !decideDueWindows(recorder, schedule)) {
      // The step is full. A timer of the window that is next: the old one is dead once its window is decided.
      watchSchedule(state, schedule);
      break;
    }
  }
  state.currentSchedule = null;
}

function fireTimer(recorder: Recorder, timer: Timer): void {
  if (timer.kind === 'lease') return fireLeaseTimer(recorder, timer);
  if (timer.kind === 'resume') return endPause(recorder, timer.subject as RunId, timer.stamp);
  if (isRunTimer(timer)) return fireRunTimer(recorder, timer);
  const { state } = recorder;
  if (timer.kind === 'breaker' || timer.kind === 'budget') return fireBreakerTimer(recorder, timer);
  const claim = { runId: timer.subject as RunId, taskNo: timer.taskNo as TaskNo, fence: timer.stamp as Fence };
  const slot = findTask(state, claim);
  if (slot === null) return;
  state.currentRun = claim.runId;
  if (timer.kind === 'retry') {
    const isWaiting = AWAITS_RETRY[state.tasks.state[slot]!] === 1 && state.tasks.fence[slot] === claim.fence;
    if (isWaiting && mayRun(state, slot)) passRetry(recorder, slot);
    return;
  }
  if (isTaskTimer(timer)) return fireTaskTimer(recorder, slot, timer);
  if (!isHeld(state, slot, claim)) return;
  if (timer.kind === 'pace') return firePaceTimer(state, slot, claim);
  if (timer.kind === 'call') {
    if (state.tasks.state[slot] !== WAITING) return;
    askAgain(recorder, slot);
    setTaskTimer(state, 'call', state.settings.askChildMs, claim);
  } else if (timer.kind === 'timeout') {
    // It has got more time since.
    const leftMs = deadlineOf(state, slot) - state.mono;
    if (leftMs > 0) return setTaskTimer(state, 'timeout', leftMs, claim);
    const error = 'The attempt ran longer than its timeout.';
    endOverdue(recorder, slot, { outcome: 'timeout', code: 'timeout:attempt', error });
  } else {
    endAttempt(recorder, slot, {
      outcome: 'lost',
      code: 'lost:grace',
      error: 'The worker did not stop the cancelled attempt within its grace period.',
    });
  }
}

function fireBreakerTimer(recorder: Recorder, timer: Timer): void {
  const { breakers } = recorder.state;
  // No run is to blame for what a breaker does.
  recorder.state.currentRun = null;
  if (timer.kind === 'budget') {
    if (breakers.budget.wakeAt === timer.at) wakeBudget(recorder);
    return;
  }
  const breaker = breakers.get(timer.subject as DagId, timer.stamp);
  if (breaker?.wakeAt === timer.at) wakeBreaker(recorder, breaker);
}

/** A worker not heard for the whole lease loses its attempts (I25). */
function fireLeaseTimer(recorder: Recorder, timer: Timer): void {
  const { state } = recorder;
  const worker = state.workers.at(timer.subject);
  if (worker === undefined || worker.watchedAt !== timer.at) return;
  worker.watchedAt = null;
  if (worker.leaseEndsAt <= state.mono) {
    giveBack(recorder, worker, worker.free);
    endLease(recorder, worker);
  }
  watchLease(state, worker);
}

/**
 * Sent, and not shown by its worker in time: the next heartbeat decides. Not the clock alone: a worker that is not heard
 * either may have died of this very task, and that counts (I26, I28).
 */
function askForSign({ state }: Recorder): void {
  for (;;) {
    const claims = state.sent.takeDue(state.mono, state.settings.undeliveredMs);
    if (claims === null) return;
    for (const claim of claims) {
      const slot = findTask(state, claim);
      if (slot === null || !isHeld(state, slot, claim) || state.tasks.confirmed[slot] !== UNCONFIRMED) continue;
      state.tasks.confirmed[slot] = OVERDUE;
      state.workers.at(state.tasks.worker[slot]!)!.owesSince ??= state.mono;
    }
  }
}
