/** What each queue has to do. Counted on request: nothing on the hot path pays for it. */
import type { Instant, QueueName, TenantId } from '../../model/ids.ts';
import { NO_WORKER } from '../attempt/attempt-table.ts';
import type { State } from '../state.ts';
import { taskSpecOf } from '../task/task-slots.ts';
import type { Lane } from './lane.ts';

export interface QueueLoad {
  readonly tenantId: TenantId;
  readonly queue: QueueName;
  /** Tasks that are ready. */
  waiting: number;
  /** Those of them that a limit holds back: another worker would not start them. */
  held: number;
  /** Attempts on workers. */
  running: number;
  /** When the oldest run with a task in `waiting` was created; null when nothing waits. */
  oldestAt: Instant | null;
}

export function queueLoads(state: State): QueueLoad[] {
  const found = new Map<QueueName, Map<TenantId, QueueLoad>>();
  const loadOf = (tenantId: TenantId, queue: QueueName): QueueLoad => {
    const ofQueue = found.get(queue) ?? new Map<TenantId, QueueLoad>();
    found.set(queue, ofQueue);
    const load = ofQueue.get(tenantId) ?? { tenantId, queue, waiting: 0, held: 0, running: 0, oldestAt: null };
    ofQueue.set(tenantId, load);
    return load;
  };
  for (const { tenantId, lanes } of state.dags.byId.values()) {
    for (const lane of [...lanes.values()].flat())
      if (lane !== undefined && lane.ready > 0) addLane(state, loadOf(tenantId, lane.queue.name), lane);
  }
  state.attempts.forEach((attempt) => {
    // A call of another dag has no worker.
    if (state.attempts.worker[attempt] === NO_WORKER) return;
    const task = state.attempts.task[attempt]!;
    const { dag } = state.runs.versionOf(state.tasks.run[task]!);
    loadOf(dag.tenantId, taskSpecOf(state, task).queue).running += 1;
  });
  return [...found.values()].flatMap((ofQueue) => [...ofQueue.values()]);
}

function addLane(state: State, load: QueueLoad, lane: Lane): void {
  load.waiting += lane.ready;
  // A queue counts the lanes that it may claim from; from one that is frozen nothing is claimed.
  if (lane.queue.isHeld) load.held += lane.ready;
  else if (!lane.lacksOnlyKept()) load.held += lane.ready - lane.counted;
  const run = state.runs.find(lane.headRunId() as Parameters<typeof state.runs.find>[0]);
  // Entries of runs that are gone stay at the head until a claim passes them.
  if (run < 0) return;
  const createdAt = state.runs.createdAt[run] as Instant;
  if (load.oldestAt === null || createdAt < load.oldestAt) load.oldestAt = createdAt;
}
