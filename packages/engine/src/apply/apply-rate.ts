/** Counts starts under rates, live and in replay (I19). */
import { type RateChange, rateStarts, type StoredRateStart } from '../model/change/rate.ts';
import { isQuotaCount } from '../model/quota.ts';
import type { RateLimit } from '../tables/limit/rate-limit.ts';
import type { State } from '../tables/state.ts';
import { applyRows } from './apply-rows.ts';

export function applyRate(state: State, change: RateChange): void {
  applyRows(state, change);
  const rate = counterOf(state, change);
  if (change.kind === 'RateFreed') rate.free(change.fromAt);
  else rate.set(change, state);
}

export function restoreRateStart(state: State, row: StoredRateStart): void {
  state.rows.keep(rateStarts, row);
  counterOf(state, row).set(row, state);
}

function counterOf(state: State, { shard, limit }: Pick<StoredRateStart, 'shard' | 'limit'>): RateLimit {
  return (isQuotaCount(limit) ? state.quotas.counts : state.rates).getOrAdd(shard, limit);
}
