import type { WorkerHeardAgain, WorkerSilenced } from '../model/change.ts';
import type { MonoMs } from '../model/ids.ts';
import type { State } from '../tables/state.ts';

/** Stores, once per shard, that a worker was silent when the shard changed its owner (D5, I25). */
export function applyWorkerSilence(state: State, change: WorkerSilenced | WorkerHeardAgain): void {
  if (change.kind === 'WorkerSilenced') {
    const worker = state.workers.getOrAdd(change.workerId, (state.mono + state.settings.leaseMs) as MonoMs);
    worker.silencedIn.add(change.shard);
    return;
  }
  const worker = state.workers.get(change.workerId);
  if (worker === undefined) return;
  worker.silencedIn.delete(change.shard);
  state.workers.forgetIfIdle(worker);
}
