/** Commands of gateways about workers: slots, heartbeats, and workers that leave. */

import type { Epoch, NodeId, QueueName, ShardNo, TenantId, WorkerId } from '../ids.ts';
import type { Amounts, Request, WorkerTraits } from '../placement.ts';
import type { ClaimRef } from './attempt.ts';

/** With how long before its heartbeat the attempt told of progress, if it ever did. */
export type HeldClaim = ClaimRef & { readonly progressAgoMs?: number };

/** What is known of tenants now. Of those that are not named nothing changes. */
export interface SetTenants {
  readonly kind: 'SetTenants';
  readonly tenants: readonly {
    readonly tenantId: TenantId;
    /** Its share of slots that several tenants wait for, in proportion to the weights of the others. */
    readonly weight: number;
    /** Nothing of it begins. */
    readonly isSuspended: boolean;
    /** Suspended, and its schedules create no runs. */
    readonly isDeleted?: boolean;
  }[];
}

/** Something that starts nothing until it is thawed. */
export interface Frozen {
  readonly tenantId: TenantId;
  readonly kind: 'cluster' | 'tenant' | 'queue' | 'dag' | 'worker';
  /** Empty for the cluster and for a tenant. */
  readonly name: string;
}

/** All that is frozen now. */
export interface SetFrozen {
  readonly kind: 'SetFrozen';
  readonly frozen: readonly Frozen[];
}

/** A gateway lends slots of a worker, for one decision, or until recalled when it has no better use for them (D6). */
export interface LendSlots {
  readonly kind: 'LendSlots';
  readonly gateway: NodeId;
  readonly workerId: WorkerId;
  /** Whom the slots are for: they get no task of anybody else (I65). Null: every tenant. */
  readonly tenants: readonly TenantId[] | null;
  readonly queues: readonly QueueName[];
  /** In which proportion tasks of these queues are taken while all of them wait; one that is not named counts as 1. Absent: dags take turns, whatever their queue. */
  readonly weights?: Readonly<Record<string, number>>;
  readonly count: number;
  /** What the worker is and has in all. Without it the slots are for tasks that ask for nothing else. */
  readonly traits?: WorkerTraits;
  /** What is lent with the slots of what the worker has. */
  readonly room?: Amounts;
  /** The slots are reserved for tasks with this request. */
  readonly only?: Request;
  /** The worker has nothing to do, and all its slots are lent to this node. */
  readonly isWhole?: boolean;
  readonly standing: boolean;
  /** The stream of the worker that they are lent from: one that connects again has a new one. Older nodes do not send it. */
  readonly stream?: number;
  /** How long ago the gateway heard the worker. */
  readonly agoMs: number;
}

export interface RecallSlots {
  readonly kind: 'RecallSlots';
  readonly gateway: NodeId;
  readonly workerId: WorkerId;
  readonly count: number;
  /** With all that was lent of its resources. */
  readonly withRoom?: boolean;
  readonly stream?: number;
}

/** A heartbeat: renews every lease of the worker, and says what it holds. */
export interface WorkerHeard {
  readonly kind: 'WorkerHeard';
  readonly gateway: NodeId;
  readonly workerId: WorkerId;
  /** How long ago the gateway heard it. */
  readonly agoMs: number;
  readonly holds: readonly HeldClaim[];
  /** It was told to stop, and takes no new work: what goes with it now is no fault of its tasks. */
  readonly isDraining?: boolean;
  /** The shards that `holds` speaks of, where it is not all of them: of others it proves nothing by what it lacks. */
  readonly covers?: readonly ShardNo[];
  /**
   * The worker made this set after it had heard of these owners, and takes no assignment of an older one since: what
   * is not in it will not begin any more (I17).
   */
  readonly knows: readonly { readonly shard: ShardNo; readonly epoch: Epoch }[];
}

/** The worker has left in order, and holds nothing. */
export interface WorkerLeft {
  readonly kind: 'WorkerLeft';
  readonly gateway: NodeId;
  readonly workerId: WorkerId;
}

/** The link to a gateway is lost, and with it the slots that it lent. The leases of its workers continue. */
export interface GatewayLost {
  readonly kind: 'GatewayLost';
  readonly gateway: NodeId;
}
