/** Nothing of what is frozen begins from here on; what runs goes on. Nothing of it is stored by the engine. */
import type { SetFrozen } from '../../model/command.ts';
import { updateLanes } from '../../tables/queue/enqueue.ts';
import type { Recorder } from '../recorder.ts';

export function setFrozen({ state }: Recorder, { frozen }: SetFrozen): void {
  state.frozen.set(frozen);
  state.queues.setHeld();
  for (const dag of state.dags.byId.values()) {
    const isFrozen = state.frozen.holdsDag(dag);
    if (dag.isFrozen === isFrozen) continue;
    dag.isFrozen = isFrozen;
    updateLanes(dag);
  }
}
