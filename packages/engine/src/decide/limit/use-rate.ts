/** Counts each start under the rates of its task and of its dag, and forgets starts that count no more (I44). */
import type { TaskSlot } from '../../model/ids.ts';
import { RateLimit } from '../../tables/limit/rate-limit.ts';
import type { RateTable } from '../../tables/limit/rate-table.ts';
import { laneOf } from '../../tables/queue/enqueue.ts';
import type { Recorder } from '../recorder.ts';

export function useRates(recorder: Recorder, slot: TaskSlot): void {
  const { state } = recorder;
  for (const { hold } of laneOf(state, state.tasks.run[slot]!, slot).holds) {
    if (!(hold instanceof RateLimit) || hold.rate === null) continue;
    const { shard, name: limit } = hold;
    recorder.record({ kind: 'RateUsed', shard, limit, ...hold.spanAt(state.now) });
  }
}

/** With a tick. */
export function freeRates(recorder: Recorder): void {
  const { rates, quotas } = recorder.state;
  freeStarts(recorder, rates);
  freeStarts(recorder, quotas.counts);
}

function freeStarts(recorder: Recorder, table: RateTable): void {
  const { state } = recorder;
  for (let rate = table.due(state.mono); rate !== undefined; rate = table.due(state.mono)) {
    if (recorder.isFull()) return;
    const { shard, name: limit } = rate;
    for (const fromAt of rate.over(state.mono)) recorder.record({ kind: 'RateFreed', shard, limit, fromAt });
  }
}
