/** The claim of a worker, once its token has proved it (I20). */
import { type ClaimRef, type RunId, SHARD_COUNT, type ShardNo, type WorkerId } from '@signalbox/engine';
import { SignalboxError } from '@signalbox/protocol';
import type { Claim } from '@signalbox/protocol/grpc';
import type { HmacTokens } from '../../ports/tokens.ts';

export interface Proved {
  readonly shard: ShardNo;
  readonly claim: ClaimRef;
}

export function proveClaim(said: Claim, token: Buffer, workerId: WorkerId, tokens: HmacTokens): Proved {
  const { runId, task, attempt, fence } = said;
  const claim = { runId: runId as RunId, taskNo: task, attemptNo: attempt, fence } as ClaimRef;
  const shard = said.shard as ShardNo;
  if (said.shard < SHARD_COUNT && tokens.check(shard, claim, workerId, token)) return { shard, claim };
  throw new SignalboxError('STALE_TOKEN', { taskId: `${runId}/${task}` });
}
