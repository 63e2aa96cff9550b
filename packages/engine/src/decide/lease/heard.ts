/** Heartbeats: they renew leases in memory, and tell which claims have arrived and which never will (D5). */
import type { ClaimRef, WorkerHeard, WorkerLeft } from '../../model/command.ts';
import { type MonoMs, type RunId, shardOfRun } from '../../model/ids.ts';
import { findTask, isHeld } from '../../tables/task/find-task.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import { hearProgress } from '../../tables/timer/task-timers.ts';
import { attemptsOf } from '../../tables/worker/attempts.ts';
import { CONFIRMED, LOADED, MISSING, OVERDUE, SEEN } from '../../tables/worker/confirmed.ts';
import { renewLease, watchLease } from '../../tables/worker/lease.ts';
import type { Worker } from '../../tables/worker/worker-table.ts';
import type { KillAttempt } from '../effect.ts';
import type { Recorder } from '../recorder.ts';
import { endAttempt } from '../task/end-attempt.ts';
import { returnClaim } from '../task/report.ts';
import { clearSilence, endLease } from './end-lease.ts';
import { killAttempt } from './kill.ts';

export function hearWorker(recorder: Recorder, command: WorkerHeard): void {
  const { state } = recorder;
  const worker = state.workers.get(command.workerId);
  // It runs nothing of ours: nothing to renew.
  if (worker === undefined || worker.hasLeft) return killUnknown(recorder, command);
  // What is on loan stays with the gateway that lent it, until that one recalls it or is gone.
  if (worker.free === 0) worker.gateway = command.gateway;
  worker.heard = true;
  worker.isDraining = command.isDraining === true;
  const heardAt = (state.mono - command.agoMs) as MonoMs;
  renewLease(worker, (heardAt + state.settings.leaseMs) as MonoMs);
  clearSilence(recorder, worker);
  confirmHeld(recorder, command, worker, heardAt);
  // A heartbeat that was overtaken by a later one proves nothing by what it lacks.
  const isNewest = heardAt >= worker.heardAt && !recorder.overtaken.has(command);
  if (isNewest) settleMissing(recorder, command, worker, heardAt);
  worker.heardAt = Math.max(worker.heardAt, heardAt) as MonoMs;
  for (const slot of attemptsOf(state, worker)) {
    if (state.tasks.confirmed[slot] === SEEN) state.tasks.confirmed[slot] = CONFIRMED;
  }
  watchLease(state, worker);
}

/**
 * Whoever leaves holds nothing any more; what it never began goes back at no cost. The gateway that says so need not be the one through
 * which the worker was heard last: it may have moved since, for its old one was killed, and its id is never used again (I27).
 */
export function workerLeft(recorder: Recorder, { workerId }: WorkerLeft): void {
  const { state } = recorder;
  const worker = state.workers.get(workerId);
  if (worker === undefined) return;
  worker.free = 0;
  worker.hasLeft = true;
  worker.leaseEndsAt = state.mono;
  worker.watchedAt = null;
  endLease(recorder, worker);
  watchLease(state, worker);
}

function confirmHeld(recorder: Recorder, command: WorkerHeard, worker: Worker, heardAt: MonoMs): void {
  const { state } = recorder;
  for (const claim of command.holds) {
    if (!state.shards.has(shardOfRun(claim.runId))) continue;
    const slot = findTask(state, claim);
    const isOurs = slot !== null && isHeld(state, slot, claim) && state.tasks.worker[slot] === worker.no;
    if (isOurs) {
      state.tasks.confirmed[slot] = SEEN;
      if (claim.progressAgoMs !== undefined) hearProgress(state, slot, heardAt - claim.progressAgoMs);
    }
    // A run that is closing has told its workers to stop; the word may have been lost on the way (I42).
    if (isOurs && !mayRun(state, slot)) kill(recorder, claim, command, 'cancelled');
    else if (!isOurs) kill(recorder, claim, command, 'lost');
  }
}

/** What the worker should hold, and does not. When the step is full the next heartbeat tells the same again. */
function settleMissing(recorder: Recorder, { knows, covers }: WorkerHeard, worker: Worker, heardAt: MonoMs): void {
  const { state } = recorder;
  const covered = covers === undefined ? null : new Set(covers);
  const showsAll = worker.owesSince !== null && heardAt >= worker.owesSince;
  for (const slot of attemptsOf(state, worker)) {
    if (recorder.isFull()) return;
    // As at the end of a lease.
    if (state.tasks.worker[slot] !== worker.no) continue;
    const runId = state.runIdOfTask(slot);
    if (covered !== null && !covered.has(shardOfRun(runId))) continue;
    const confirmed = state.tasks.confirmed[slot]!;
    if (confirmed === CONFIRMED) {
      state.tasks.confirmed[slot] = MISSING;
      worker.missesSince = heardAt;
    } else if (confirmed === MISSING) {
      if (heardAt < worker.missesSince! + 2 * state.settings.undeliveredMs) continue;
      // It had the attempt and has it no more, and no report came: the worker lost it.
      state.currentRun = runId;
      const error = 'The worker no longer has this attempt.';
      endAttempt(recorder, slot, { outcome: 'lost', code: 'lost:dropped', error });
    } else if (confirmed === OVERDUE ? showsAll : confirmed === LOADED && knowsOwner(recorder, knows, runId)) {
      state.currentRun = runId;
      killAttempt(recorder, slot, 'lost'); // Should it still arrive, it must not be run.
      returnClaim(recorder, slot, 'undelivered');
    }
  }
  const stillOwes = attemptsOf(state, worker).some((slot) => state.tasks.confirmed[slot] === OVERDUE);
  if (showsAll && !stillOwes) worker.owesSince = null;
}

/** The worker has heard of us: it takes no assignment of an earlier owner any more (I17). */
function knowsOwner({ state }: Recorder, knows: WorkerHeard['knows'], runId: RunId): boolean {
  const owned = state.shards.get(shardOfRun(runId));
  return owned !== undefined && knows.some(({ shard, epoch }) => shard === owned.shard && epoch === owned.epoch);
}

function killUnknown(recorder: Recorder, command: WorkerHeard): void {
  for (const claim of command.holds) {
    if (recorder.state.shards.has(shardOfRun(claim.runId))) kill(recorder, claim, command, 'lost');
  }
}

/** The worker runs what it no longer owns: given up, or returned. Its report would be refused; it should stop (I21). */
function kill(
  recorder: Recorder,
  claim: ClaimRef,
  { workerId, gateway }: WorkerHeard,
  reason: KillAttempt['reason'],
): void {
  const { graceMs } = recorder.state.settings;
  recorder.send({ kind: 'KillAttempt', gateway, workerId, claim, reason, graceMs });
}
