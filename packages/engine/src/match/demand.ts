/** What waits for a slot, by queue and priority: told to gateways, so that they lend where something waits (D6). */
import { PRIORITIES } from '../dag/spec.ts';
import type { QueueName, TenantId, WorkerId } from '../ids.ts';
import type { State } from '../state.ts';
import { addDemand } from '../straggler/claim-second.ts';

export interface Demand {
  readonly tenantId: TenantId;
  readonly queue: QueueName;
  /** Ready tasks that no limit holds back, by priority. */
  readonly counts: readonly number[];
  /** Second attempts, each of which wants a slot of another worker than the one that has the first. */
  readonly apart?: readonly { readonly priority: number; readonly from: WorkerId }[];
}

export function demandOf(state: State): Demand[] {
  const found: Demand[] = [];
  for (const queue of state.queues.values()) {
    const counts = PRIORITIES.map((_, priority) =>
      queue.activeLanes(priority).reduce((sum, lane) => sum + lane.ready, 0),
    );
    if (counts.some((count) => count > 0)) found.push({ tenantId: queue.tenantId, queue: queue.name, counts });
  }
  return state.stragglers.wanted.size === 0 ? found : addDemand(state, found);
}
