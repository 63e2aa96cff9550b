import type { WorkerHeardAgain, WorkerSilenced } from '../model/change.ts';
import type { MonoMs } from '../model/ids.ts';
import type { State } from '../tables/state.ts';

/** That a worker was silent when its shard changed hands is stored, once, by shard (D5, I25). */
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
