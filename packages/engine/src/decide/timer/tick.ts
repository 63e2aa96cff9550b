/** Handles the passing of time: due windows, retries, timeouts, lost workers, claims that never arrived. */

import type { DagId, RunId, TaskNo } from '../../model/ids.ts';
import { NO_ATTEMPT } from '../../tables/attempt/attempt-table.ts';
import { OVERDUE, UNCONFIRMED } from '../../tables/attempt/confirmed.ts';
import { attemptWith, findAttempt } from '../../tables/attempt/find-attempt.ts';
import { nextExpectedAt } from '../../tables/expect/expectations.ts';
import type { Schedule } from '../../tables/schedule/schedule.ts';
import { watchSchedule } from '../../tables/schedule/watch-schedule.ts';
import { isLive } from '../../tables/schedule/window-wheel.ts';
import type { State } from '../../tables/state.ts';
import { findTask } from '../../tables/task/find-task.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import { isRunTimer } from '../../tables/timer/run-timers.ts';
import type { Timer } from '../../tables/timer/timer-heap.ts';
import { watchLease } from '../../tables/worker/lease.ts';
import { tellAssets } from '../asset/produce-asset.ts';
import { advanceBackfills, isBackfillDue } from '../backfill/advance.ts';
import { passRetry, wakeBudget } from '../breaker/pass.ts';
import { wakeBreaker } from '../breaker/wake.ts';
import { checkExpectations } from '../expect/expect.ts';
import { endLease } from '../lease/end-lease.ts';
import { wakeLimits } from '../limit/give-slots.ts';
import { freeRates } from '../limit/use-rate.ts';
import { endPause } from '../manual/pause.ts';
import { giveBack } from '../match/loan.ts';
import { linkPasts, pastDue } from '../past/check-past.ts';
import { lookAtQuotas, nextLookAt } from '../quota/set-quota.ts';
import type { Recorder } from '../recorder.ts';
import { checkRequirements } from '../requires/check-requires.ts';
import { decideDueWindows } from '../schedule/decide-windows.ts';
import { removeIfOver } from '../schedule/over.ts';
import { isMoveDue, nextWalkAt, parkDecided } from '../schedule/park.ts';
import { waitsForLoad } from '../schedule/wait-for-load.ts';
import { releaseHeld } from '../trigger/release-held.ts';
import { isCurrentRetry } from './dead-timers.ts';
import { fireAttemptTimer } from './fire-attempt-timer.ts';
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
  advanceBackfills(recorder);
  linkPasts(recorder);
  checkRequirements(recorder);
  tellAssets(recorder);
  wakeLimits(recorder);
  freeRates(recorder);
  lookAtQuotas(recorder);
  checkExpectations(recorder);
}

/** When something is due next: by the clock that never jumps, and by the wall clock. */
export function nextDue({ state }: Pick<Recorder, 'state'>): {
  readonly mono: number | null;
  readonly wall: number | null;
} {
  const timer = state.timers.peek()?.at ?? null;
  const sent = state.sent.nextDueAt(state.settings.undeliveredMs);
  const isDue = isBackfillDue(state) || isMoveDue(state) || state.schedules.toPark.size > 0;
  const told = soonest(state.untold.next(), soonest(state.limits.next(), ratesDue(state)));
  const waits = soonest(soonest(pastDue(state), state.requires.next()), told);
  const mono = isDue ? state.mono : soonest(soonest(timer, sent), soonest(waits, state.gathering.next()));
  const wall = soonest(soonest(state.windows.firstAt(), nextWalkAt(state)), nextExpectedAt(state));
  return { mono, wall };
}

function ratesDue(state: State): number | null {
  return soonest(soonest(state.rates.next(), state.quotas.counts.next()), nextLookAt(state));
}

function soonest(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.min(a, b);
}

/** Windows are due, or the due times of some that were are to be stored: the next step goes on with it. */
export function hasWindowWork(state: State): boolean {
  return isWindowDue(state) || state.schedules.toPark.size > 0;
}

function isWindowDue({ windows, now }: State): boolean {
  return (windows.firstAt() ?? Number.POSITIVE_INFINITY) <= now;
}

/** The schedules with windows that are due now, as many as a step decides at most. */
export function dueSchedules({ state }: Pick<Recorder, 'state'>): readonly Schedule[] {
  const { windows, now } = state;
  if (!isWindowDue(state)) return [];
  return windows
    .due(now, windowShare(state))
    .filter(isLive)
    .map(({ schedule }) => schedule);
}

/**
 * How many changes of a step are for windows. The rest is for work that is there already: a step that windows could fill would start
 * no task while a hundred thousand of them are due, and be long. The first steps of a burst have fewer windows: their code is cold, and
 * each takes several times as long as later ones.
 */
function windowShare({ settings, windowsInRow, windowsPerStep }: State): number {
  const told = windowsPerStep === null ? Number.POSITIVE_INFINITY : windowsPerStep * PER_WINDOW;
  const most = Math.min(
    told,
    Math.ceil(settings.changesPerStep * (windowsPerStep === null ? WINDOW_SHARE : MOST_SHARE)),
  );
  return Math.min(most, FIRST_SHARE + Math.ceil(windowsInRow * SHARE_GROWTH));
}

const WINDOW_SHARE = 0.25;
/** Whatever the host says. */
const MOST_SHARE = 0.5;
/** A window that becomes a run is so many changes. */
const PER_WINDOW = 2;
/** The share of the first step, in changes. */
const FIRST_SHARE = 64;
/** By how much the share grows with each change that was made for windows since. */
const SHARE_GROWTH = 0.5;
/** So many schedules may wait for a moment without due windows; beyond, their due times are stored all the same (I73). */
const MOST_TO_PARK = 200_000;

function openWindows(recorder: Recorder): void {
  const { state } = recorder;
  const before = recorder.changes.length;
  const full = before + windowShare(state);
  const hasRoom = () => recorder.changes.length < full && !recorder.isFull();
  // No timer of a run is to blame for what a schedule does.
  state.currentRun = null;
  for (let next = state.windows.peek(state.now); next !== undefined; next = state.windows.peek(state.now)) {
    if (!hasRoom()) break;
    const { schedule } = next;
    const isWatched = isLive(next);
    // Its dag comes with the needs of the next tick: one that became due since the needs were asked waits for that.
    if (isWatched && state.dags.get(schedule.dagId) === undefined) break;
    state.windows.pop();
    if (!isWatched || waitsForLoad(state, schedule)) continue;
    state.currentSchedule = schedule;
    if (!decideDueWindows(recorder, schedule, hasRoom)) {
      // The step is full: it goes on with the window that is next.
      watchSchedule(state, schedule);
      state.schedules.toPark.add(schedule);
      break;
    }
    removeIfOver(recorder, schedule);
    if (schedule.isKept) state.schedules.toPark.add(schedule);
  }
  state.currentSchedule = null;
  state.windowsInRow = isWindowDue(state) ? state.windowsInRow + recorder.changes.length - before : 0;
  if (!isWindowDue(state) || state.schedules.toPark.size > MOST_TO_PARK) parkDecided(recorder);
}

function fireTimer(recorder: Recorder, timer: Timer): void {
  if (timer.kind === 'lease') return fireLeaseTimer(recorder, timer);
  if (timer.kind === 'resume') return endPause(recorder, timer.subject as RunId, timer.stamp);
  if (isRunTimer(timer)) return fireRunTimer(recorder, timer);
  const { state } = recorder;
  if (timer.kind === 'held') return fireHeldTimer(recorder, timer);
  if (timer.kind === 'past') return firePastTimer(state, timer);
  if (timer.kind === 'breaker' || timer.kind === 'budget') return fireBreakerTimer(recorder, timer);
  const runId = timer.subject as RunId;
  const slot = findTask(state, { runId, taskNo: timer.taskNo as TaskNo });
  if (slot === null) return;
  state.currentRun = runId;
  if (isTaskTimer(timer)) return fireTaskTimer(recorder, slot, timer);
  if (timer.kind === 'retry') {
    if (isCurrentRetry(state, slot, timer) && mayRun(state, slot)) passRetry(recorder, slot);
    return;
  }
  const attempt = attemptWith(state, slot, timer.stamp);
  if (attempt !== NO_ATTEMPT) fireAttemptTimer(recorder, attempt, timer.kind);
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

/** The time of events that waited is over. */
function fireHeldTimer(recorder: Recorder, timer: Timer): void {
  // No run is to blame: there is none yet.
  recorder.state.currentRun = null;
  const held = recorder.state.held.at(timer.subject);
  if (held?.wakeAt === timer.at) releaseHeld(recorder, held);
}

/** The run that it waits for may not be stored any more: the next tick sees. */
function firePastTimer({ runs, past }: State, timer: Timer): void {
  const run = runs.find(timer.subject as RunId);
  if (run >= 0 && past.get(run)?.waitsFor != null) past.doubtful.add(run);
}

/** A worker not heard for the whole lease loses its attempts (I25). */
function fireLeaseTimer(recorder: Recorder, timer: Timer): void {
  const { state } = recorder;
  const worker = state.workers.at(timer.subject);
  if (worker === undefined || worker.watchedAt !== timer.at) return;
  worker.watchedAt = null;
  if (worker.leaseEndsAt <= state.mono) {
    giveBack(recorder, worker, worker.free, worker.takeRoom());
    endLease(recorder, worker);
  }
  watchLease(state, worker);
}

/**
 * Sent, and not shown by its worker in time: the next heartbeat decides. Not the clock alone: a worker that is not heard
 * either may have died of this very task, and that counts (I26, I28).
 */
function askForSign({ state }: Recorder): void {
  const { attempts } = state;
  for (;;) {
    const claims = state.sent.takeDue(state.mono, state.settings.undeliveredMs);
    if (claims === null) return;
    for (const claim of claims) {
      const attempt = findAttempt(state, claim);
      if (attempt === null || attempts.confirmed[attempt] !== UNCONFIRMED) continue;
      attempts.confirmed[attempt] = OVERDUE;
      state.workers.at(attempts.worker[attempt]!)!.owesSince ??= state.mono;
    }
  }
}
