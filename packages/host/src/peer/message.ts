/** The messages between nodes. Requests and notices use the sender's own link; answers come back on the same link. */
import type {
  Amounts,
  Answer,
  AttemptNo,
  Blocker,
  ClaimRef,
  Command,
  Demand,
  Fence,
  LimitName,
  NodeId,
  QueueName,
  QueueWeights,
  Request,
  RunId,
  ShardNo,
  SlotsSeen,
  TaskNo,
  TenantId,
  WaitingTask,
  WaitSeen,
  WorkerId,
  WorkerTraits,
} from '@signalbox/engine';
import type { Assignment, Kill, ShardEpoch } from '../ports.ts';

export const PEER_FORMAT = 1;

/** The first message on a link: the node that it is meant for. */
export interface Calls {
  readonly kind: 'calls';
  readonly nodeId: NodeId;
}

/** From any node to the owner of a shard: decide on this. Addressed to one epoch, so that a late one is not done. */
export interface Forward {
  readonly kind: 'forward';
  readonly no: number;
  readonly epoch: number;
  readonly command: Command;
}

export type ForwardResult =
  | { readonly status: 'answered'; readonly answer: Answer }
  /** Not done: this node does not own the shard, or not under that epoch, or takes nothing in right now. */
  | { readonly status: 'not_done'; readonly reason: 'not_owner' | 'overloaded' }
  /** May have been done. */
  | { readonly status: 'unknown' };

export interface Forwarded {
  readonly kind: 'forwarded';
  readonly no: number;
  readonly result: ForwardResult;
}

/** Owner to gateways: what waits for a slot, on change. */
export interface DemandTold {
  readonly kind: 'demand';
  readonly demand: readonly Demand[];
}

/** Gateway to owner: slots for one decision. */
export interface SlotsLent {
  readonly kind: 'lent';
  readonly workerId: WorkerId;
  readonly tenantId: TenantId;
  readonly queues: readonly QueueName[];
  /** In which proportion the worker takes from its queues. Nodes of older versions do not send it. */
  readonly weights?: QueueWeights;
  readonly count: number;
  /** For a task that asks for more than a slot: what its worker is, and what of it is lent along. */
  readonly traits?: WorkerTraits;
  readonly room?: Amounts;
  readonly isWhole?: boolean;
  /** The stream of the worker that they are lent from. Nodes of older versions do not send it. */
  readonly stream?: number;
  /** The slots are reserved for tasks with this request. Nodes of older versions use them for others, too. */
  readonly only?: Request;
  /** How long ago the gateway heard the worker. */
  readonly agoMs: number;
}

/** Owner to gateway: unused. */
export interface SlotsReturned {
  readonly kind: 'returned';
  readonly workerId: WorkerId;
  readonly count: number;
  readonly room?: Amounts;
  /** The stream that they were lent from. Nodes of older versions do not send it. */
  readonly stream?: number;
}

/** Owner to gateway. */
export interface Assigned {
  readonly kind: 'assigned';
  readonly workerId: WorkerId;
  readonly assignments: readonly Assignment[];
}

export interface Killed {
  readonly kind: 'killed';
  readonly workerId: WorkerId;
  readonly kills: readonly Kill[];
}

/** Gateway to owner. */
export interface Heard {
  readonly kind: 'heard';
  readonly workerId: WorkerId;
  readonly agoMs: number;
  readonly holds: readonly ClaimRef[];
  readonly isDraining: boolean;
  /** The shards that `holds` speaks of: those that the gateway takes for the receiver's. */
  readonly covers: readonly ShardNo[];
  readonly knows: readonly ShardEpoch[];
}

export interface Left {
  readonly kind: 'left';
  readonly workerId: WorkerId;
}

/** New owner to gateways: ask your workers what they run of these shards (D5). */
export interface Reconcile {
  readonly kind: 'reconcile';
  readonly epochs: readonly ShardEpoch[];
}

/** An owner has let go of shards: look now, do not wait for the next round. */
export interface Released {
  readonly kind: 'released';
}

/** What a queue has to do for a tenant, in the shards of one node. */
export interface QueueSeen {
  readonly tenantId: TenantId;
  readonly queue: QueueName;
  /** Tasks that are ready, and those of them that a limit or a freeze holds back. */
  readonly waiting: number;
  readonly held: number;
  readonly running: number;
  /** Age of the oldest run with a task that waits; null when nothing does. */
  readonly oldestMs: number | null;
  readonly startsPerMinute: number;
}

/** A worker as its gateway sees it. */
export interface WorkerSeen {
  readonly workerId: WorkerId;
  readonly tenantId: TenantId;
  /** Whom it serves; null: every tenant. Nodes of older versions do not send it. */
  readonly tenants?: readonly TenantId[] | null;
  readonly name: string;
  /** Where its stream ends. */
  readonly nodeId: NodeId;
  readonly queues: readonly QueueName[];
  /** In which proportion it takes from its queues. Nodes of older versions do not send it. */
  readonly weights?: QueueWeights;
  readonly slots: number;
  /** What it is and has in all, and what of that is not taken by attempts. Nodes of older versions do not send it. */
  readonly traits?: WorkerTraits;
  readonly free?: Amounts;
  readonly running: number;
  /** Some of its running attempts. Nodes of older versions do not send it. */
  readonly holds?: readonly ClaimRef[];
  readonly draining: boolean;
  /** Absent when the worker, or the node that it is connected to, is of an older version. */
  readonly version?: string;
  /** It takes nothing new until it is thawed. Nodes of older versions do not send it. */
  readonly cordoned?: boolean;
  /** For whom it is reserved. Nodes of older versions do not send it. */
  readonly reserved?: { readonly tenantId: TenantId; readonly queue: QueueName; readonly requestKey: string };
  /** Since it was last heard. */
  readonly silentMs: number;
}

/** What a running attempt has told of its progress, as the gateway of its worker knows it. */
export interface ProgressSeen {
  readonly taskNo: TaskNo;
  readonly attemptNo: AttemptNo;
  readonly fence: Fence;
  readonly agoMs: number;
  readonly fraction: number | null;
  readonly note: string;
}

/** Workers that serve this tenant, and one of these queues. */
export interface Served {
  readonly tenantId: TenantId;
  readonly queues: readonly QueueName[];
}

/** What a node may ask of any other. Nothing is decided by it. */
export type PeerQuestion =
  | { readonly what: 'workers' }
  | { readonly what: 'queues' }
  | { readonly what: 'progress'; readonly runId: RunId }
  | { readonly what: 'slots'; readonly limit: LimitName }
  | { readonly what: 'blockers'; readonly tenantId: TenantId }
  | { readonly what: 'wait'; readonly task: WaitingTask }
  /** How many slots for each of these do the workers have whose streams end at you? */
  | { readonly what: 'capacity'; readonly of: readonly Served[] }
  /** Are you there? */
  | { readonly what: 'reach' }
  /** Tell this worker to finish and leave, if its stream ends at you. */
  | {
      readonly what: 'drain';
      readonly workerId: WorkerId;
      readonly tenantId: TenantId | null;
      /** It is about to be taken away: what it runs is to stop within this time. */
      readonly evictMs?: number;
    };

export type PeerAnswer =
  | { readonly what: 'workers'; readonly workers: readonly WorkerSeen[] }
  | { readonly what: 'queues'; readonly queues: readonly QueueSeen[] }
  | { readonly what: 'progress'; readonly told: readonly ProgressSeen[] }
  | { readonly what: 'slots'; readonly seen: SlotsSeen }
  | { readonly what: 'blockers'; readonly blockers: readonly Blocker[] }
  | { readonly what: 'wait'; readonly seen: WaitSeen }
  | { readonly what: 'capacity'; readonly slots: readonly number[] }
  | { readonly what: 'reach' }
  | { readonly what: 'drain'; readonly isFound: boolean };

export interface Asks {
  readonly kind: 'asks';
  readonly no: number;
  readonly question: PeerQuestion;
}

export interface Answers {
  readonly kind: 'answers';
  readonly no: number;
  readonly answer: PeerAnswer;
}

export type PeerMessage =
  | Calls
  | Forward
  | Forwarded
  | DemandTold
  | SlotsLent
  | SlotsReturned
  | Assigned
  | Killed
  | Heard
  | Left
  | Reconcile
  | Released
  | Asks
  | Answers;
