/** The claim of a worker, once its token has proved it (I20). */
import { type ClaimRef, type RunId, SHARD_COUNT, type ShardNo, type TenantId, type WorkerId } from '@signalbox/engine';
import { SignalboxError } from '@signalbox/protocol';
import type { Claim } from '@signalbox/protocol/grpc';
import type { Queries } from '@signalbox/store';
import type { Caller } from '../../auth/bearer.ts';
import type { Logger } from '../../log.ts';
import type { HmacTokens } from '../../ports/tokens.ts';
import { fromDatabase } from '../../rest/errors.ts';
import { isServed } from '../caller.ts';

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

interface ClaimPorts {
  readonly queries: Pick<Queries, 'tenantOfRun'>;
  readonly logger: Logger;
}

/** The tenant of the run; only a worker of the fleet works for another than that of its token (I65). */
export async function tenantOfClaim(caller: Caller, { runId, taskNo }: ClaimRef, ports: ClaimPorts): Promise<TenantId> {
  if (caller.work.serves === null) return caller.tenantId;
  const log = ports.logger as Parameters<typeof fromDatabase>[1];
  const tenantId = await fromDatabase(() => ports.queries.tenantOfRun(runId), log);
  if (tenantId !== null && isServed(caller, tenantId)) return tenantId;
  throw new SignalboxError('STALE_TOKEN', { taskId: `${runId}/${taskNo}` });
}
