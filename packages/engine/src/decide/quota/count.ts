/** Counts under quotas: in spans, which survive handovers, as starts per time do. */
import { type Answer, refuseOverQuota } from '../../model/answer.ts';
import type { ShardNo } from '../../model/ids.ts';
import type { LimitName } from '../../model/limit.ts';
import { QUOTA_PER_MS, type QuotaName } from '../../model/quota.ts';
import type { RateLimit } from '../../tables/limit/rate-limit.ts';
import type { Recorder } from '../recorder.ts';

/** Who asks for more at once than the quota has is told to come back when nothing of it is used. */
const SHORTEST_MS = 1_000;

export function countUnder(
  recorder: Recorder,
  { shard, limit, quota, count }: { shard: ShardNo; limit: LimitName; quota: QuotaName; count: number },
): void {
  const { state } = recorder;
  const counter = state.quotas.counts.getOrAdd(shard, limit);
  recorder.record({ kind: 'RateUsed', shard, limit, ...counter.spanAt(state.now, count, QUOTA_PER_MS[quota]) });
}

/** Null: so many more are within the hard limit. */
export function refusedBy(
  { state }: Recorder,
  counter: RateLimit,
  { quota, hard, count }: { readonly quota: QuotaName; readonly hard: number | null; readonly count: number },
): Answer | null {
  const { count: used } = counter;
  if (hard === null || used + count <= hard) return null;
  const retryAfterMs = Math.max(SHORTEST_MS, counter.waitMs(Math.max(0, hard - count), state.mono));
  return refuseOverQuota({ quota, hard, used, retryAfterMs });
}
