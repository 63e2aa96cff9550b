/** Counts starts under rates, live and in replay (I19). */
import { type RateChange, rateStarts, type StoredRateStart } from '../model/change/rate.ts';
import type { State } from '../tables/state.ts';
import { applyRows } from './apply-rows.ts';

export function applyRate(state: State, change: RateChange): void {
  applyRows(state, change);
  const rate = state.rates.getOrAdd(change.shard, change.limit);
  if (change.kind === 'RateFreed') rate.free(change.fromAt);
  else rate.set(change, state);
}

export function restoreRateStart(state: State, row: StoredRateStart): void {
  state.rows.keep(rateStarts, row);
  state.rates.getOrAdd(row.shard, row.limit).set(row, state);
}
