/**
 * What a worker and its gateway say to each other, as both ends see it: `proto/worker.proto` with the words of the
 * domain. Every message may have several parts filled at once; a part that is not there is `null`, empty or `false`.
 */

import type { HeldBooking, WorkerOffers } from '../placement.ts';

/** Names one claim: the right to run one attempt. `fence` is larger than that of any earlier claim of the task. */
export interface Claim {
  readonly shard: number;
  readonly runId: number;
  readonly task: number;
  readonly attempt: number;
  readonly fence: number;
}

export const REPORTED_OUTCOMES = [
  'succeeded',
  'transient',
  'permanent',
  'cancelled',
  'timeout',
  'resource',
  'stuck',
  'lost',
] as const;
export type ReportedOutcome = (typeof REPORTED_OUTCOMES)[number];

export interface Report {
  readonly claim: Claim;
  readonly token: Buffer;
  readonly outcome: ReportedOutcome;
  /** JSON text; empty when there is none. */
  readonly output: string;
  /** For people. */
  readonly error: string;
  /** Milliseconds of the worker's clock. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** For people and retry policies: `exit:137`, `http:503`, `error:TypeError`; empty when there is none. */
  readonly code: string;
  /** The next attempt should not start before this has passed; 0 when nobody said. */
  readonly retryAfterMs: number;
  /** What the next attempt would need; 0 when nobody said. */
  readonly memoryBytes: number;
  /** Processor time that it used, in microseconds, at least 1 if it was measured; 0 when it was not. */
  readonly cpuMicros: number;
  /** The most memory that it had at a time; 0 when it was not measured. */
  readonly peakBytes: number;
}

export interface Refusal {
  readonly claim: Claim;
  readonly token: Buffer;
  readonly reason: string;
}

export interface ShardEpoch {
  readonly shard: number;
  readonly epoch: number;
}

export interface Hello {
  readonly workerId: string;
  readonly name: string;
  readonly queues: readonly string[];
  /** One for each of `queues`, in their order; none: dags take turns, whatever their queue. Workers of older versions do not send it. */
  readonly queueWeights?: readonly number[];
  readonly slots: number;
  readonly holds: readonly Claim[];
  /** One for each of `holds`, in their order. */
  readonly holdTokens: readonly Buffer[];
  readonly draining: boolean;
  /** Of the worker's package. Workers of older versions do not send it. */
  readonly version?: string;
  /** What it is and has in all. Workers of older versions do not send it. */
  readonly offers?: WorkerOffers;
  /** One for each of `holds`, in their order: what it takes beside a slot. */
  readonly holdBookings?: readonly (HeldBooking | undefined)[];
}

export interface Heartbeat {
  readonly no: number;
  readonly holds: readonly Claim[];
  /** The progress of attempts that have reported any. */
  readonly progress: readonly HeldProgress[];
  /** By the clock of its machine, since 1970. Workers of older versions do not send it. */
  readonly clockMs?: number;
}

export interface HeldProgress {
  readonly claim: Claim;
  /** Since the attempt last told of progress. */
  readonly agoMs: number;
  /** 0 to 1; null when it does not know. */
  readonly fraction: number | null;
  /** For people. */
  readonly note: string;
}

/** What a running attempt wants of the owner of its task. One of these; the others are 0, empty or false. */
export interface AttemptRequestMessage {
  /** Counts up over all asks of the worker. */
  readonly no: number;
  readonly claim: Claim;
  readonly token: Buffer;
  readonly extendMs: number;
  /** JSON text. */
  readonly checkpoint: string;
  readonly assertOwned: boolean;
  /** JSON text. */
  readonly addedTasks: string;
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

export interface Holdings {
  readonly epochs: readonly ShardEpoch[];
  readonly holds: readonly Claim[];
}

export interface WorkerMessage {
  readonly hello: Hello | null;
  readonly heartbeat: Heartbeat | null;
  readonly reports: readonly Report[];
  readonly refusals: readonly Refusal[];
  readonly holdings: Holdings | null;
  readonly draining: boolean;
  readonly requests: readonly AttemptRequestMessage[];
  /** To be answered at once; 0 when there is none. */
  readonly ping: number;
  /** The last word: the worker holds nothing and is gone after it. */
  readonly leaving: boolean;
  /** How many more claims the worker takes than it has slots; null when it says nothing of it. */
  readonly ahead: { readonly count: number } | null;
}

export interface Welcome {
  readonly nodeId: string;
  readonly heartbeatMs: number;
  readonly leaseMs: number;
  readonly gateways: readonly string[];
  /** `host:port` of the node's data service; empty when it has none. */
  readonly dataAddress: string;
  /** How often the worker should ping; 0 when the gateway answers no pings. */
  readonly pingMs: number;
  /** By which servers know the worker; empty from an older gateway. */
  readonly workerId: string;
  /** The worker serves several tenants: it keeps code, files and secrets of each apart. */
  readonly shared: boolean;
}

export interface UpstreamOutput {
  readonly taskName: string;
  /** JSON text. */
  readonly output: string;
}

/** An output that is too large to be sent along: fetched by its id, with the token of the claim. */
export interface OutputRef {
  readonly taskName: string;
  readonly id: string;
  /** About; 0 when it is not known. */
  readonly bytes: number;
}

/** One of the maps that a task is in, and the item of it that the task runs for. */
export interface MapPlace {
  readonly group: string;
  readonly index: number;
  /** JSON text. */
  readonly item: string;
}

export interface Assignment {
  readonly claim: Claim;
  readonly token: Buffer;
  readonly epoch: number;
  readonly tenant: string;
  readonly dag: string;
  readonly version: number;
  /** UUID. */
  readonly run: string;
  readonly taskName: string;
  readonly handler: string;
  /** JSON text; empty for a plain handler. */
  readonly work: string;
  /** SHA-256 of the code, in hex; empty when the worker brings its own. */
  readonly bundle: string;
  /** SHA-256 of the archive of files for the working folder, in hex; empty when there are none. */
  readonly files: string;
  readonly queue: string;
  /** 0: no limit. */
  readonly timeoutMs: number;
  readonly effectKey: string;
  /** JSON text; empty when there are none. */
  readonly params: string;
  readonly upstream: readonly UpstreamOutput[];
  /** Names of tasks that it needs and that failed, or did not run because of a failure. */
  readonly failedUpstream: readonly string[];
  /** Names of tasks that it needs and that were skipped, or have not ended. */
  readonly missingUpstream: readonly string[];
  /** JSON about the run, for tasks that look at it; empty for others. */
  readonly runInfo: string;
  /** Outermost first; empty when it is in no map. */
  readonly map: readonly MapPlace[];
  /** JSON text that an earlier attempt has left; empty when there is none. */
  readonly checkpoint: string;
  /** What the attempt may have of memory; 0 where nothing is said. */
  readonly memoryBytes: number;
  /** JSON text: what it takes of the worker beside a slot; empty for nothing. */
  readonly booking: string;
  /** After this long it counts as slow; 0 for never. */
  readonly softTimeoutMs: number;
  /** How long it may go without progress; 0: no limit. */
  readonly stuckMs: number;
  /** Outputs of tasks that it needs and that are not among `upstream`. */
  readonly references: readonly OutputRef[];
}

export const KILL_REASONS = ['cancelled', 'timeout', 'stuck', 'lost', 'superseded', 'preempted'] as const;
export type KillReason = (typeof KILL_REASONS)[number];

export interface Kill {
  readonly claim: Claim;
  readonly reason: KillReason;
  readonly graceMs: number;
}

export const REPORT_VERDICTS = ['accepted', 'stale'] as const;
export type ReportVerdict = (typeof REPORT_VERDICTS)[number];

export interface ReportAnswer {
  readonly claim: Claim;
  readonly verdict: ReportVerdict;
}

export interface GatewayMessage {
  readonly welcome: Welcome | null;
  /** The number of the last heartbeat heard; 0 when none is answered here. */
  readonly heartbeatAnswered: number;
  readonly assignments: readonly Assignment[];
  readonly kills: readonly Kill[];
  readonly answers: readonly ReportAnswer[];
  readonly epochs: readonly ShardEpoch[];
  readonly drain: boolean;
  readonly requestAnswers: readonly AttemptRequestAnswer[];
  /** The last ping heard; 0 when none is answered here. */
  readonly pingAnswered: number;
  /** The worker is about to be taken away: what it runs is to stop within this time; 0 when it is not. */
  readonly evictMs: number;
}

/** What is handed to a stream's `write`: only the parts that have something to say. The format is added on the way out. */
export type WorkerMessageParts = Partial<WorkerMessage>;
export type GatewayMessageParts = Partial<GatewayMessage>;
