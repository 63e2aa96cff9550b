/**
 * The lease of a worker: one for all of its attempts. It begins with the first of them, each heartbeat renews it, and when
 * it ends the worker loses them all (D5). Only the clock that never jumps counts.
 */
import type { MonoMs } from '../ids.ts';
import type { Recorder } from '../recorder.ts';
import type { State } from '../state.ts';
import { endAttempt } from '../task/end-attempt.ts';
import { returnClaim } from '../task/report.ts';
import { attemptsOf } from './attempts.ts';
import { CONFIRMED, MISSING } from './confirmed.ts';
import { killAttempt } from './kill.ts';
import type { Worker } from './worker-table.ts';

/**
 * Before the worker's first attempt: its lease begins now. What was left of an older one says nothing, for a worker that
 * runs nothing is not watched. One whose silence is stored keeps what is left of its time (I25).
 */
export function beginLease(state: State, worker: Worker): void {
  if (worker.running > 0 || worker.silencedIn.size > 0) return;
  renewLease(worker, (state.mono + state.settings.leaseMs) as MonoMs);
}

export function renewLease(worker: Worker, leaseEndsAt: MonoMs): void {
  if (leaseEndsAt > worker.leaseEndsAt) worker.leaseEndsAt = leaseEndsAt;
}

/** One timer a worker; it is set again when it comes up and the worker has been heard since. */
export function watchLease(state: State, worker: Worker): void {
  if (worker.watchedAt !== null || (worker.running === 0 && worker.silencedIn.size === 0)) return;
  worker.watchedAt = worker.leaseEndsAt;
  state.timers.push({ at: worker.leaseEndsAt, kind: 'lease', subject: worker.no, taskNo: 0, stamp: 0 });
}

/** The worker's time is up, or it has left: it loses its attempts, step by step if they are many (I25, I68). */
export function endLease(recorder: Recorder, worker: Worker): void {
  const { state } = recorder;
  for (const slot of attemptsOf(state, worker)) {
    if (recorder.isFull()) break;
    // It has taken the place of the first attempt meanwhile, which this worker had too: its turn comes at once.
    if (state.tasks.worker[slot] !== worker.no) continue;
    state.currentRun = state.runIdOfTask(slot);
    giveUpAttempt(recorder, slot, worker);
  }
  if (worker.running === 0) {
    clearSilence(recorder, worker);
    state.workers.forgetIfIdle(worker);
  }
}

function giveUpAttempt(recorder: Recorder, slot: number, worker: Worker): void {
  if (!worker.hasLeft) {
    killAttempt(recorder, slot, 'lost');
    const error = 'The worker was not heard for the length of its lease.';
    if (!worker.isDraining) return endAttempt(recorder, slot, { outcome: 'lost', code: 'lost:silent', error });
    // A deploy gives workers some time to finish, and then kills them.
    const drained = `${error} It was told to stop before.`;
    endAttempt(recorder, slot, { outcome: 'lost', code: 'lost:drained', error: drained, isOrderly: true });
  } else if ([CONFIRMED, MISSING].includes(recorder.state.tasks.confirmed[slot]!)) {
    const error = 'The worker has left.';
    endAttempt(recorder, slot, { outcome: 'lost', code: 'lost:left', error, isOrderly: true });
  } else returnClaim(recorder, slot, 'drained');
}

/** The worker was heard, or has nothing any more: its silence is of no interest. */
export function clearSilence(recorder: Recorder, worker: Worker): void {
  for (const shard of worker.silencedIn) recorder.record({ kind: 'WorkerHeardAgain', shard, workerId: worker.id });
}
