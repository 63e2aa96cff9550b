/** Heartbeats: they renew leases in memory, and tell which claims have arrived and which never will (D5). */
import type { ClaimRef, WorkerHeard, WorkerLeft } from '../command.ts';
import { type MonoMs, type RunId, shardOfRun } from '../ids.ts';
import type { Recorder } from '../recorder.ts';
import { CLOSING } from '../run/run-table.ts';
import { endAttempt } from '../task/end-attempt.ts';
import { findTask, isHeld, returnClaim } from '../task/report.ts';
import { attemptsOf } from './attempts.ts';
import type { Worker } from './worker-table.ts';

export function hearWorker(recorder: Recorder, command: WorkerHeard): void {
  const { state } = recorder;
  const known = state.workers.get(command.workerId);
  // It runs nothing of ours: nothing to renew.
  if (known === undefined) return killUnknown(recorder, command);
  known.gateway = command.gateway;
  known.heard = true;
  const leaseEndsAt = (state.mono - command.agoMs + state.settings.leaseMs) as MonoMs;
  if (leaseEndsAt > known.leaseEndsAt) known.leaseEndsAt = leaseEndsAt;
  clearSilence(recorder, known);
  confirmHeld(recorder, command, known);
  const knows = new Map(command.knows.map(({ shard, epoch }) => [shard, epoch]));
  for (const slot of attemptsOf(state, known)) {
    if (state.tasks.confirmed[slot] === SEEN) continue;
    const run = state.tasks.run[slot]!;
    const shard = state.shards.get(shardOfRun(state.runs.id[run] as RunId));
    if (state.tasks.confirmed[slot] === CONFIRMED) {
      // It had the attempt and has it no more, and no report came: the worker lost it.
      endAttempt(recorder, slot, { outcome: 'lost', error: 'The worker no longer has this attempt.' });
    } else if (shard !== undefined && knows.get(shard.shard) === shard.epoch && wasLoaded(recorder, slot)) {
      returnClaim(recorder, slot, 'undelivered');
    }
  }
  for (const slot of attemptsOf(state, known))
    if (state.tasks.confirmed[slot] === SEEN) state.tasks.confirmed[slot] = CONFIRMED;
  watchLease(recorder, known);
}

export function workerLeft(recorder: Recorder, { workerId, gateway }: WorkerLeft): void {
  const { state } = recorder;
  const worker = state.workers.get(workerId);
  if (worker === undefined || (worker.gateway !== null && worker.gateway !== gateway)) return;
  worker.free = 0;
  for (const slot of attemptsOf(state, worker)) {
    if (state.tasks.confirmed[slot] === CONFIRMED) {
      endAttempt(recorder, slot, { outcome: 'lost', error: 'The worker has left.' });
    } else returnClaim(recorder, slot, 'drained');
  }
  clearSilence(recorder, worker);
  state.workers.forgetIfIdle(worker);
}

const CONFIRMED = 1;
/** In the set of the heartbeat at hand. */
const SEEN = 2;
/** Loaded from the database: this engine did not send it. */
export const LOADED = 3;

function wasLoaded({ state }: Recorder, slot: number): boolean {
  return state.tasks.confirmed[slot] === LOADED;
}

function confirmHeld(recorder: Recorder, { holds, workerId, gateway }: WorkerHeard, worker: Worker): void {
  const { state } = recorder;
  for (const claim of holds) {
    if (!state.shards.has(shardOfRun(claim.runId))) continue;
    const slot = findTask(recorder, claim);
    const isOurs = slot !== null && isHeld(recorder, slot, claim) && state.tasks.worker[slot] === worker.no;
    if (isOurs) state.tasks.confirmed[slot] = SEEN;
    // A run that is closing has told its workers to stop; the word may have been lost on the way (I42).
    const isClosing = isOurs && state.runs.phase[state.tasks.run[slot]!] === CLOSING;
    if (isClosing) kill(recorder, claim, workerId, gateway, 'cancelled');
    else if (!isOurs) kill(recorder, claim, workerId, gateway, 'lost');
  }
}

function killUnknown(recorder: Recorder, { holds, workerId, gateway }: WorkerHeard): void {
  for (const claim of holds) {
    if (recorder.state.shards.has(shardOfRun(claim.runId))) kill(recorder, claim, workerId, gateway, 'lost');
  }
}

/** The worker runs what it no longer owns: given up, or returned. Its report would be refused; it should stop (I21). */
function kill(
  recorder: Recorder,
  claim: ClaimRef,
  workerId: WorkerHeard['workerId'],
  gateway: WorkerHeard['gateway'],
  reason: 'lost' | 'cancelled',
): void {
  const graceMs = recorder.state.settings.graceMs;
  recorder.send({ kind: 'KillAttempt', gateway, workerId, claim, reason, graceMs });
}

function clearSilence(recorder: Recorder, worker: Worker): void {
  for (const shard of worker.silencedIn) recorder.record({ kind: 'WorkerHeardAgain', shard, workerId: worker.id });
}

/** One timer a worker; it is set again when it comes up and the worker has been heard since. */
export function watchLease({ state }: Recorder, worker: Worker): void {
  if (worker.running === 0 || worker.watchedAt !== 0) return;
  worker.watchedAt = worker.leaseEndsAt;
  state.timers.push({ at: worker.leaseEndsAt, kind: 'lease', subject: worker.no, taskNo: 0, stamp: 0 });
}
