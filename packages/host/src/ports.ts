/**
 * What the host needs from the world. `server/main.ts` provides the real implementations, the simulator fake ones; the code
 * between is the same.
 */
import type {
  Booking,
  ClaimRef,
  Epoch,
  Instant,
  MonoMs,
  NewTask,
  NodeId,
  QueueName,
  QueueWeights,
  ReportedOutcome,
  RunUid,
  ShardNo,
  TenantId,
  Usage,
  WorkerId,
  WorkerTraits,
} from '@signalbox/engine';
import type { StoredDecision, WorkerEventSeen } from '@signalbox/store';
import type { ToldOfRun } from './run-info.ts';

export interface Clock {
  /** May jump, may differ from other nodes'. */
  wall(): Instant;
  /** Never jumps, means nothing to others. */
  mono(): MonoMs;
  /** Calls back once, not before the time has passed. The answer cancels it. */
  after(delayMs: number, run: () => void): () => void;
}

export interface Random {
  /** A whole number below 2^32. */
  uint32(): number;
}

/** Anything worth telling people who run it. Never holds payloads or secrets. */
export type Log = (
  level: 'info' | 'warn' | 'error',
  message: string,
  details?: Readonly<Record<string, unknown>>,
) => void;

/** What is kept for people beside the commits. It never waits, and what it was told last may be lost with the process. */
export interface FleetHistory {
  /** Of a claim that was committed. */
  decided(told: StoredDecision): void;
  worker(seen: WorkerEventSeen): void;
}

export const NO_HISTORY: FleetHistory = { decided: () => {}, worker: () => {} };

/** Proves claims to the outside: a MAC over incarnation, shard, task, attempt, fence and the worker they are assigned to (D8). */
export interface Tokens {
  mint(shard: ShardNo, claim: ClaimRef, workerId: WorkerId): Uint8Array;
  check(shard: ShardNo, claim: ClaimRef, workerId: WorkerId, token: Uint8Array): boolean;
  /** A text that only this claim can use, and nobody else can make. */
  seal(shard: ShardNo, claim: ClaimRef, text: string): string;
  /** Null unless it was sealed for this claim. */
  open(shard: ShardNo, claim: ClaimRef, sealed: string): string | null;
}

/** What a task may see of its run, by name. */
export interface VisibleOutputs {
  /** JSON text; null when the run has none. */
  readonly params: string | null;
  /** JSON text of the outputs of its upstream tasks. */
  readonly upstream: ReadonlyMap<string, string>;
  /** Names of upstream tasks that did not succeed. */
  readonly absent: readonly string[];
  /** Information about the run. */
  readonly run: { readonly id: string; readonly dag: string } & Partial<ToldOfRun>;
  /** The item that it is for, of each map around it. */
  readonly map: readonly MapPlace[];
}

/** The params of a child run, as JSON text, from what its task says of them; or why there are none that it could be given. */
export type ChildParams = (
  work: object | undefined,
  visible: VisibleOutputs,
  /** What the dag that is called says of its params. */
  schema: object | boolean | null,
) => { readonly ok: true; readonly params: string | null } | { readonly ok: false; readonly error: string };

/** Why this node must own no shards at the moment, as a sentence; null when it may. */
export type Unfit = () => string | null;

/** Raises the node's beat each second from a thread and connection of its own, and only while `tick` is called (D5). */
export interface LeaseRenewer {
  start(nodeId: NodeId): void;
  /** The main loop is alive. */
  tick(): void;
  stop(): Promise<void>;
}

/** A link to one other node. What is sent arrives in order, or the link closes. */
export interface PeerLink {
  send(message: unknown): void;
  close(): void;
}

export interface PeerHandlers {
  onMessage(message: unknown): void;
  onClose(): void;
}

/** A node that opened a link to us. A later session of the same node voids all earlier ones. */
export interface PeerCaller {
  readonly nodeId: NodeId;
  readonly session: number;
}

export interface PeerNetwork {
  open(address: string, self: PeerCaller, handlers: PeerHandlers): PeerLink;
  /** Called for each link that another node opens to this one. */
  listen(onLink: (caller: PeerCaller, link: PeerLink) => PeerHandlers): void;
}

/** What a gateway tells a worker. The door turns it into wire messages; parts of one turn may go in one message. */
export interface WorkerDoor {
  assign(assignments: readonly Assignment[]): void;
  kill(kills: readonly Kill[]): void;
  answer(answers: readonly ReportAnswer[]): void;
  epochs(epochs: readonly ShardEpoch[]): void;
  heartbeatAnswered(no: number): void;
  requestAnswers(answers: readonly AttemptRequestAnswer[]): void;
  /** Finish what you have, then leave. With a time: stop what you have within it. */
  drain(evictMs?: number): void;
  /** Ends the stream. `unproven`: it named claims that it was not assigned. */
  close(reason?: 'closed' | 'unproven'): void;
}

export interface ShardEpoch {
  readonly shard: ShardNo;
  readonly epoch: Epoch;
}

export interface Assignment {
  readonly shard: ShardNo;
  readonly epoch: Epoch;
  readonly claim: ClaimRef;
  /** Base64 on the way between nodes. */
  readonly token: string;
  readonly tenant: string;
  readonly dag: string;
  readonly version: number;
  readonly run: RunUid;
  readonly taskName: string;
  readonly handler: string;
  /** JSON with everything else that the worker needs for this task; empty for a plain handler. */
  readonly work: string;
  /** Names the code that the handler is in; empty when the worker brings it. */
  readonly bundle: string;
  /** Names the files that its process works with; empty when there are none, undefined from an older node. */
  readonly files?: string;
  readonly queue: QueueName;
  readonly timeoutMs: number;
  readonly effectKey: string;
  readonly params: string | null;
  readonly upstream: readonly { readonly taskName: string; readonly output: string }[];
  /** Names of tasks that it needs and that failed, or did not run because of a failure. */
  readonly failedUpstream: readonly string[];
  /** Names of tasks that it needs and that were skipped, or have not ended. */
  readonly missingUpstream: readonly string[];
  /** JSON about the run; empty unless the task looks at it. */
  readonly runInfo: string;
  /** The maps that the task is in, outermost first, with the items that it runs for. */
  readonly map: readonly MapPlace[];
  /** JSON that an earlier attempt has left; empty when there is none. */
  readonly checkpoint: string;
  /** What it takes of its worker beside a slot. */
  readonly booking?: Booking;
  /** The stream of the worker whose slot it takes. Nodes of older versions do not send it. */
  readonly stream?: number;
  /** What the attempt may have of memory; 0 where nothing is said. */
  readonly memoryBytes: number;
  /** After this long it counts as slow; 0 for never. */
  readonly softTimeoutMs: number;
  /** How long it may go without progress; 0: no limit. */
  readonly stuckMs: number;
  /** Outputs of tasks that it needs and that are too large to be sent along. */
  readonly references: readonly OutputRef[];
}

export interface OutputRef {
  readonly taskName: string;
  /** What the claim may fetch, sealed for it. */
  readonly id: string;
  /** About; 0 when it is not known. */
  readonly bytes: number;
}

export interface MapPlace {
  readonly group: string;
  readonly index: number;
  /** JSON text. */
  readonly item: string;
}

export interface Kill {
  readonly claim: ClaimRef;
  readonly reason: 'cancelled' | 'timeout' | 'stuck' | 'lost' | 'superseded' | 'preempted';
  readonly graceMs: number;
}

export interface ReportAnswer {
  readonly claim: ClaimRef;
  readonly verdict: 'accepted' | 'stale';
}

/** What a worker tells its gateway. */
/** A claim that a worker says it holds from an earlier stream, with what proves it. */
export interface ProvenClaim {
  readonly claim: ClaimRef;
  readonly token: Uint8Array;
  /** What the worker has set aside for it beside a slot. */
  readonly booking?: Booking;
}

export interface WorkerHello {
  /** Stands for its tenant and credential, too: no other credential can be this worker. */
  readonly workerId: WorkerId;
  /** The tenant of its credential. */
  readonly tenantId: TenantId;
  /** Whom it serves; null: every tenant. */
  readonly tenants: readonly TenantId[] | null;
  readonly name: string;
  readonly queues: readonly QueueName[];
  /** In which proportion it takes from its queues; absent: the oldest run first. */
  readonly weights?: QueueWeights;
  readonly slots: number;
  /** What it is and has in all; absent when it is too old to tell. */
  readonly traits?: WorkerTraits;
  readonly holds: readonly ProvenClaim[];
  readonly draining: boolean;
  /** Of its package; absent when it is too old to tell. */
  readonly version?: string;
}

export interface WorkerReport {
  readonly claim: ClaimRef;
  readonly token: Uint8Array;
  readonly outcome: ReportedOutcome;
  readonly output: string | null;
  readonly error: string | null;
  readonly startedAt: Instant | null;
  readonly code?: string | null;
  readonly retryAfterMs?: number | null;
  readonly memoryBytes?: number | null;
  readonly used?: Usage | null;
}

/** What a running attempt has told of its progress. */
export interface ClaimProgress {
  readonly claim: ClaimRef;
  readonly agoMs: number;
  /** 0 to 1; null when it does not know. */
  readonly fraction: number | null;
  readonly note: string;
}

export type AttemptRequest =
  | { readonly kind: 'checkpoint'; readonly value: string }
  | { readonly kind: 'assert' }
  | { readonly kind: 'add'; readonly tasks: readonly NewTask[] }
  /** At least this long from now. */
  | { readonly kind: 'extend'; readonly byMs: number }
  /** What can't be asked, and why. */
  | { readonly kind: 'faulty'; readonly reason: string };

/** What a running attempt wants of the owner of its task. */
export interface WorkerRequest {
  /** Grows with each ask of the worker; the same when it is sent again. */
  readonly no: number;
  readonly claim: ClaimRef;
  readonly token: Uint8Array;
  readonly request: AttemptRequest;
}

export interface AttemptRequestAnswer {
  readonly no: number;
  readonly ok: boolean;
  /** A code of the error table; empty if ok. */
  readonly code: string;
  readonly detail: string;
  /** Until the attempt's time is over, after it got more. */
  readonly leftMs: number;
}

export interface WorkerSays {
  /** `clockMs`: by the clock of its machine. */
  heartbeat(no: number, holds: readonly ClaimRef[], progress?: readonly ClaimProgress[], clockMs?: number): void;
  requests(requests: readonly WorkerRequest[]): void;
  reports(reports: readonly WorkerReport[]): void;
  refusals(refusals: readonly { readonly claim: ClaimRef; readonly token: Uint8Array }[]): void;
  holdings(epochs: readonly ShardEpoch[], holds: readonly ClaimRef[]): void;
  draining(): void;
  /** How many more claims it takes than it has slots, from now on. */
  ahead(count: number): void;
  /** The most claims that it can truthfully name in one message (I68). */
  mostHolds(): number;
  /** It holds nothing, and goes for good. */
  leaving(): void;
  /** The stream is gone. */
  closed(): void;
}
