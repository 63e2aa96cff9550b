/** Counts starts under rates, live and in replay (I19). */
import { type RateChange, rateStarts, type StoredRateStart } from '../model/change/rate.ts';
import { isStarts } from '../model/limit.ts';
import { isQuotaCount } from '../model/quota.ts';
import type { RateLimit } from '../tables/limit/rate-limit.ts';
import type { State } from '../tables/state.ts';
import { applyRows } from './apply-rows.ts';

export function applyRate(state: State, change: RateChange): void {
  applyRows(state, change);
  const rate = counterOf(state, change);
  if (change.kind === 'RateFreed') rate.free(change.fromAt);
  else rate.set(change, state);
  countIn(state, change);
}

export function restoreRateStart(state: State, row: StoredRateStart): void {
  state.rows.keep(rateStarts, row);
  counterOf(state, row).set(row, state);
  countIn(state, row);
}

/** Over several dags: the shard uses slots for starts that count. */
function countIn({ limits, rates }: State, { shard, limit }: Pick<StoredRateStart, 'shard' | 'limit'>): void {
  if (!isStarts(limit)) return;
  const hold = limits.find(shard, limit);
  if (hold?.isLimited === true) hold.count(rates.countIn(shard, limit));
}

function counterOf(state: State, { shard, limit }: Pick<StoredRateStart, 'shard' | 'limit'>): RateLimit {
  return (isQuotaCount(limit) ? state.quotas.counts : state.rates).getOrAdd(shard, limit);
}
