/** What the outside is told. Leaves only after the commit of its batch, in order (I15). */
import type { ClaimRef } from './command.ts';
import type { Version } from './dag/version.ts';
import type { Epoch, NodeId, RunUid, ShardNo, WorkerId } from './ids.ts';

export interface SendAssignment {
  readonly kind: 'SendAssignment';
  readonly gateway: NodeId;
  readonly workerId: WorkerId;
  readonly shard: ShardNo;
  readonly epoch: Epoch;
  readonly claim: ClaimRef;
  readonly runUid: RunUid;
  readonly version: Version;
  /** The run has params, or the task has upstream tasks: the host fetches what they left. */
  readonly hasParams: boolean;
  /** Numbers of its upstream tasks that have succeeded: it may see their outputs, and no others (I36). */
  readonly succeededUpstream: readonly number[];
  /** Numbers of those of its upstream tasks that failed, or never ran because of a failure. */
  readonly failedUpstream: readonly number[];
  /** And of those that were skipped, or have not ended. */
  readonly missingUpstream: readonly number[];
}

export interface KillAttempt {
  readonly kind: 'KillAttempt';
  readonly gateway: NodeId | null;
  readonly workerId: WorkerId;
  readonly claim: ClaimRef;
  readonly reason: 'cancelled' | 'timeout' | 'stuck' | 'lost' | 'superseded';
  readonly graceMs: number;
}

/** Lent slots that were not used. */
export interface ReturnSlots {
  readonly kind: 'ReturnSlots';
  readonly gateway: NodeId;
  readonly workerId: WorkerId;
  readonly count: number;
}

export type Effect = SendAssignment | KillAttempt | ReturnSlots;
