/** Heartbeats: they renew leases in memory, and show which claims have arrived and which never will (D5). */
import type { ClaimRef, WorkerHeard, WorkerLeft } from '../../model/command.ts';
import { type MonoMs, type NodeId, type RunId, shardOfRun } from '../../model/ids.ts';
import { CONFIRMED, LOADED, MISSING, OVERDUE, SEEN } from '../../tables/attempt/confirmed.ts';
import { attemptsOfWorker, findAttempt } from '../../tables/attempt/find-attempt.ts';
import { hearProgress } from '../../tables/attempt/watch.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import { renewLease, watchLease } from '../../tables/worker/lease.ts';
import type { Worker } from '../../tables/worker/worker-table.ts';
import type { KillAttempt } from '../effect.ts';
import { giveBack } from '../match/loan.ts';
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
  if (worker.free === 0) moveTo(recorder, worker, command.gateway);
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
  const { confirmed } = state.attempts;
  for (const attempt of attemptsOfWorker(state, worker)) {
    if (confirmed[attempt] === SEEN) confirmed[attempt] = CONFIRMED;
  }
  watchLease(state, worker);
}

/** Resources that another gateway lent without a slot go back to it: the new one counts for itself (I24). */
function moveTo(recorder: Recorder, worker: Worker, gateway: NodeId): void {
  if (worker.gateway === gateway) return;
  if (worker.hasRoom()) giveBack(recorder, worker, 0, worker.takeRoom());
  worker.gateway = gateway;
  // Each gateway numbers its own streams.
  worker.stream = 0;
}

/**
 * Whoever leaves holds nothing any more; what it never began goes back at no cost. The gateway that says so need not be the one through
 * which the worker was heard last: it may have moved since, for its old one was killed, and its id is never used again (I27).
 */
export function workerLeft(recorder: Recorder, { workerId }: WorkerLeft): void {
  const { state } = recorder;
  const worker = state.workers.get(workerId);
  if (worker === undefined) return;
  worker.takeBack(worker.free);
  worker.takeRoom();
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
    const attempt = findAttempt(state, claim);
    if (attempt === null || state.attempts.worker[attempt] !== worker.no) {
      kill(recorder, claim, command, 'lost');
      continue;
    }
    state.attempts.confirmed[attempt] = SEEN;
    if (claim.progressAgoMs !== undefined) hearProgress(state, attempt, heardAt - claim.progressAgoMs);
    // A run that is closing has told its workers to stop; the word may have been lost on the way (I42).
    if (!mayRun(state, state.attempts.task[attempt]!)) kill(recorder, claim, command, 'cancelled');
    // The same of one that was to make room.
    else if (state.attempts.preempted.has(attempt)) kill(recorder, claim, command, 'preempted');
  }
}

/** What the worker should hold, and does not. When the step is full the next heartbeat tells the same again. */
function settleMissing(recorder: Recorder, { knows, covers }: WorkerHeard, worker: Worker, heardAt: MonoMs): void {
  const { state } = recorder;
  const covered = covers === undefined ? null : new Set(covers);
  const showsAll = worker.owesSince !== null && heardAt >= worker.owesSince;
  const { confirmed } = state.attempts;
  for (const attempt of attemptsOfWorker(state, worker)) {
    if (recorder.isFull()) return;
    // Another member of its gang has just ended the try.
    if (state.attempts.worker[attempt] !== worker.no) continue;
    const runId = state.runIdOfTask(state.attempts.task[attempt]!);
    if (covered !== null && !covered.has(shardOfRun(runId))) continue;
    const known = confirmed[attempt]!;
    if (known === CONFIRMED) {
      confirmed[attempt] = MISSING;
      worker.missesSince = heardAt;
    } else if (known === MISSING) {
      if (heardAt < worker.missesSince! + 2 * state.settings.undeliveredMs) continue;
      // It had the attempt and has it no more, and no report came: the worker lost it.
      state.currentRun = runId;
      const error = 'The worker no longer has this attempt.';
      endAttempt(recorder, attempt, { outcome: 'lost', code: 'lost:dropped', error });
    } else if (known === OVERDUE ? showsAll : known === LOADED && knowsOwner(recorder, knows, runId)) {
      state.currentRun = runId;
      killAttempt(recorder, attempt, 'lost'); // Should it still arrive, it must not be run.
      returnClaim(recorder, attempt, 'undelivered');
    }
  }
  const stillOwes = attemptsOfWorker(state, worker).some((attempt) => confirmed[attempt] === OVERDUE);
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
