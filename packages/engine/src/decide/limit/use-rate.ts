/** Counts each start under the rates of its task, of its dag, and of what its dag is part of, and forgets starts that count no more (I44). */
import type { TaskSlot } from '../../model/ids.ts';
import { startsOf } from '../../model/limit.ts';
import { Hold } from '../../tables/limit/hold.ts';
import { RateLimit } from '../../tables/limit/rate-limit.ts';
import type { RateTable } from '../../tables/limit/rate-table.ts';
import { laneOf } from '../../tables/queue/enqueue.ts';
import type { Recorder } from '../recorder.ts';

export function useRates(recorder: Recorder, slot: TaskSlot): void {
  const { state } = recorder;
  for (const { hold } of laneOf(state, state.tasks.run[slot]!, slot).holds) {
    if (hold instanceof Hold && hold.countsStarts) useStarts(recorder, hold);
    if (!(hold instanceof RateLimit) || hold.rate === null) continue;
    const { shard, name: limit } = hold;
    recorder.record({ kind: 'RateUsed', shard, limit, ...hold.spanAt(state.now) });
  }
}

/** A start takes a slot of its shard, and has it until it counts no more. */
function useStarts(recorder: Recorder, { shard, name: limit }: Hold): void {
  const { now, rates } = recorder.state;
  const counter = rates.find(shard, limit) ?? new RateLimit(shard, limit, rates);
  const span = counter.spanAt(now, 1, startsOf(limit).perMs);
  recorder.record({ kind: 'RateUsed', shard, limit, ...span });
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
