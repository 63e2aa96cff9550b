/** Slots of a limit that running attempts of a shard take, counted one by one: for a shard that hears of it. */

import type { ShardNo } from '../../model/ids.ts';
import {
  CLUSTER_LIMIT,
  isAmongOthers,
  isKept,
  isStarts,
  type LimitName,
  poolLimit,
  queueLimit,
  tenantLimit,
} from '../../model/limit.ts';
import { attemptsOfWorker } from '../attempt/find-attempt.ts';
import type { State } from '../state.ts';
import { taskSpecOf } from '../task/task-slots.ts';

export function usedUnder(
  state: State,
  { shard, name }: { readonly shard: ShardNo; readonly name: LimitName },
): number {
  if (isStarts(name)) return state.rates.countIn(shard, name);
  const { attempts, tasks, runs } = state;
  let used = 0;
  for (const worker of state.workers.all()) {
    for (const attempt of attemptsOfWorker(state, worker)) {
      const slot = attempts.task[attempt]!;
      const { dag } = runs.versionOf(tasks.run[slot]!);
      if (dag.shard !== shard) continue;
      const { tenantId } = dag;
      const { queue, pool } = taskSpecOf(state, slot);
      if (pool !== undefined && name === poolLimit(tenantId, pool.name)) used += pool.slots;
      else if (isKept(name)) used += Number(isAmongOthers(name, { tenantId, dagId: dag.id, queue }));
      else if ([CLUSTER_LIMIT, tenantLimit(tenantId), queueLimit(tenantId, queue)].includes(name)) used += 1;
    }
  }
  return used;
}
