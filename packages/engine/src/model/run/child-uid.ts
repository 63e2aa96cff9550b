import { bitsOf } from '../chance.ts';
import type { ClaimRef } from '../command.ts';
import { type Instant, makeRunUid, type RunUid, type ShardNo } from '../ids.ts';

/**
 * The name of the run that a call makes: a pure function of the call, so that a call sent twice, by whomever, is one run (I11).
 * The shard is that of the dag that is called.
 */
export function childUid(
  shard: ShardNo,
  { runId, taskNo, attemptNo }: Pick<ClaimRef, 'runId' | 'taskNo' | 'attemptNo'>,
  claimedAt: Instant,
): RunUid {
  const call = [runId, taskNo, attemptNo] as const;
  return makeRunUid(shard, claimedAt, bitsOf(48, shard, ...call, 21), bitsOf(26, shard, ...call, 22));
}
