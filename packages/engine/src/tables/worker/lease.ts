/**
 * The lease of a worker: one for all its attempts. It begins with the first of them, each heartbeat renews it, and when it
 * ends the worker loses them all (D5). Only the clock that never jumps counts.
 */
import type { MonoMs } from '../../model/ids.ts';
import type { State } from '../state.ts';
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
