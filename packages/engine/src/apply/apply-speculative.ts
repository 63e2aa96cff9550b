/** Turns the changes of second attempts into state, live, on load and in replay (I19). */

import { assert } from '../model/assert.ts';
import type { SecondClaimed, SecondEnded, SecondReturned, SecondTookOver } from '../model/change.ts';
import { type MonoMs, type RunId, shardOfRun, type WorkerId } from '../model/ids.ts';
import { type SecondNote } from '../model/task/notes.ts';
import { ATTEMPT_OUTCOMES } from '../model/task/outcome.ts';
import { RUNNING } from '../model/task/task-states.ts';
import { keepShadowNotes, lastAttemptNo, lastFence, shadowOf } from '../tables/speculative/seconds.ts';
import { watchPace } from '../tables/speculative/watch-pace.ts';
import type { State } from '../tables/state.ts';
import { graceOf } from '../tables/task/claim-of.ts';
import { mayRun } from '../tables/task/may-run.ts';
import { keepNotes } from '../tables/task/task-notes.ts';
import { slotOf, taskNoOf, taskSpecOf } from '../tables/task/task-slots.ts';
import { setTaskTimer } from '../tables/timer/set-task-timer.ts';
import { watchClaim, watchLoaded, watchOf } from '../tables/timer/task-timers.ts';
import { linkAttempt, unlinkAttempt } from '../tables/worker/attempts.ts';
import { LOADED, UNCONFIRMED } from '../tables/worker/confirmed.ts';
import { beginLease, watchLease } from '../tables/worker/lease.ts';
import type { Worker } from '../tables/worker/worker-table.ts';

export type SecondChange = SecondClaimed | SecondReturned | SecondEnded | SecondTookOver;

export function applySecond(state: State, change: SecondChange): void {
  const run = state.runs.find(change.runId);
  assert(run >= 0, `${change.kind} is about a run in memory`);
  const slot = slotOf(state, run, change.taskNo);
  assert(slot >= 0 && state.tasks.state[slot] === RUNNING, `${change.kind} is about a task that runs`);
  const shadow = shadowOf(state, slot);
  if (change.kind === 'SecondClaimed') {
    assert(shadow < 0, 'no more than two attempts of a task run (I23)');
    return claim(state, slot, change);
  }
  assert(shadow >= 0, `${change.kind} is about a task that runs twice`);
  const ended = change.kind === 'SecondTookOver' ? slot : shadow;
  assert(state.tasks.fence[ended] === change.fence, `${change.kind} has the fence of the claim (I21)`);
  if (change.kind === 'SecondTookOver') return takeOver(state, slot, shadow, change);
  unlinkAttempt(state, shadow);
  dropShadow(state, slot, shadow);
  keepNotes(state, slot, change.notes);
  if (change.kind === 'SecondReturned') watchPace(state, slot);
}

function claim(state: State, slot: number, change: SecondClaimed): void {
  assert(change.fence === lastFence(state, slot) + 1, 'fences of a task rise one by one (I20)');
  assert(change.attemptNo === lastAttemptNo(state, slot) + 1, 'attempts are numbered without a gap (I23)');
  keepNotes(state, slot, change.notes);
  const shadow = addShadow(state, slot, state.tasks.notes.get(slot)!.second!);
  state.tasks.confirmed[shadow] = UNCONFIRMED;
  state.tasks.claimedMono[shadow] = state.mono;
  const { timeoutMs } = taskSpecOf(state, slot);
  if (timeoutMs !== null) setTaskTimer(state, 'timeout', timeoutMs, change);
  if (state.runs.versionOf(state.tasks.run[slot]!).hasClaimTimers) watchClaim(state, shadow, false);
  const worker = addWorker(state, change.workerId);
  if (worker.free > 0) worker.free -= 1;
  beginLease(state, worker);
  linkAttempt(state, shadow, worker);
  state.sent.add(state.batchNo, change);
}

/** What its notes tell of a task that runs twice. */
export function restoreSecond(state: State, slot: number): void {
  const second = state.tasks.notes.get(slot)?.second;
  if (second === undefined || second.over !== undefined) return;
  const { tasks, runs } = state;
  const run = tasks.run[slot]!;
  const shadow = addShadow(state, slot, second);
  tasks.claimedMono[shadow] = state.mono - Math.max(0, state.now - second.claimedAt);
  tasks.confirmed[shadow] = LOADED;
  const timer = { runId: runs.id[run]!, taskNo: taskNoOf(state, slot), fence: second.fence };
  const { timeoutMs } = taskSpecOf(state, slot);
  if (timeoutMs !== null) {
    const { deadlineAt } = second;
    const spanMs = deadlineAt === undefined ? timeoutMs : deadlineAt - second.claimedAt;
    // Never more than it can have been: the clock may have gone back (I41).
    const leftMs = Math.min(Math.max(second.claimedAt + spanMs - state.now, 0), spanMs);
    if (deadlineAt !== undefined) watchOf(state, shadow).deadlineAt = state.mono + leftMs;
    setTaskTimer(state, 'timeout', leftMs, timer);
  }
  if (runs.versionOf(run).hasClaimTimers) watchLoaded(state, shadow);
  const worker = addWorker(state, second.workerId);
  beginLease(state, worker);
  linkAttempt(state, shadow, worker);
  watchLease(state, worker);
  state.agenda.loaded.push({ shard: shardOfRun(runs.id[run] as RunId), workerNo: worker.no });
  if (!mayRun(state, slot)) setTaskTimer(state, 'kill', graceOf(state, run) + state.settings.leaseMs, timer);
}

/** Its slots are given up with the run's, or with the shard. */
export function dropSecond(state: State, slot: number): void {
  const shadow = shadowOf(state, slot);
  if (shadow < 0) return;
  unlinkAttempt(state, shadow);
  dropShadow(state, slot, shadow);
}

function takeOver(state: State, slot: number, shadow: number, change: SecondTookOver): void {
  const { tasks } = state;
  assert(tasks.fence[shadow] === change.next.fence, 'the attempt that takes over is the one that runs (I21)');
  unlinkAttempt(state, slot);
  tasks.endedFence[slot] = change.fence;
  tasks.lastOutcome[slot] = 1 + ATTEMPT_OUTCOMES.indexOf(change.outcome);
  tasks.fence[slot] = tasks.fence[shadow]!;
  tasks.attemptNo[slot] = tasks.attemptNo[shadow]!;
  tasks.claimedAt[slot] = tasks.claimedAt[shadow]!;
  tasks.claimedMono[slot] = tasks.claimedMono[shadow]!;
  tasks.confirmed[slot] = tasks.confirmed[shadow]!;
  const watch = tasks.watches.get(shadow);
  if (watch === undefined) tasks.watches.delete(slot);
  else tasks.watches.set(slot, watch);
  // Before its shadow is taken off the list: a worker that has nothing else is not to be forgotten.
  linkAttempt(state, slot, state.workers.at(tasks.worker[shadow]!)!);
  unlinkAttempt(state, shadow);
  dropShadow(state, slot, shadow);
  keepNotes(state, slot, change.notes);
  watchPace(state, slot);
}

function addShadow(state: State, slot: number, second: SecondNote): number {
  const { tasks } = state;
  const run = tasks.run[slot]!;
  const shadow = tasks.allocate(1, run, taskNoOf(state, slot));
  // No count, lane or edge knows of it.
  tasks.state[shadow] = RUNNING;
  tasks.fence[shadow] = second.fence;
  tasks.attemptNo[shadow] = second.attemptNo;
  tasks.claimedAt[shadow] = second.claimedAt;
  state.stragglers.add(slot, shadow, run);
  keepShadowNotes(state, slot);
  return shadow;
}

function dropShadow(state: State, slot: number, shadow: number): void {
  state.stragglers.remove(slot, shadow, state.tasks.run[slot]!);
  state.tasks.release(shadow, 1);
}

function addWorker(state: State, workerId: WorkerId): Worker {
  return state.workers.getOrAdd(workerId, (state.mono + state.settings.leaseMs) as MonoMs);
}
