/** The messages between the edge's thread and the main thread. Each side sends everything of one turn in one message. */
import type {
  Blocker,
  ClaimRef,
  Command,
  LimitName,
  RunId,
  SlotsSeen,
  TenantId,
  WaitingTask,
  WaitSeen,
  WorkerId,
} from '@signalbox/engine';
import type { HostMetrics, ProgressSeen, QueueSeen, Routed } from '@signalbox/host';
import type { Retention, RetentionRun, WorkerView } from '@signalbox/protocol';
import type { Rate } from '../auth/rate.ts';
import type { BindAddress, LogLevel, ServerConfig, TlsFiles } from '../config.ts';
import type { WatchedFolder } from '../files/folder-watch.ts';
import type { LoopDelay } from '../metrics/loop-delay.ts';
import type { WatchedObjects } from '../objects/object-watch.ts';
import type { ClockSeen } from '../ports/database-clock.ts';

export interface EdgeData {
  readonly url: string;
  readonly preparedStatements: boolean;
  readonly nodeId: string;
  readonly bind: BindAddress;
  readonly services: BindAddress;
  readonly advertised: Pick<ServerConfig, 'advertise' | 'advertiseServices'>;
  readonly allowedHosts: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly callbackAllow: readonly string[];
  readonly watchFolders: readonly WatchedFolder[];
  readonly watchObjects: WatchedObjects;
  readonly tls: TlsFiles | null;
  readonly logLevel: LogLevel;
  readonly retention: Retention;
  readonly rate: Rate | null;
  readonly runRate: Rate | null;
  readonly logs: { readonly folder: string; readonly bytesLimit: number; readonly retentionDays: number };
}

export interface EdgePorts {
  readonly http: number;
  readonly services: number;
}

/** What a worker is to a queue. Says nothing of whose it is: a worker of the fleet serves tenants that may not see it. */
export type ServingWorker = Pick<
  WorkerView,
  'queues' | 'slots' | 'running' | 'draining' | 'cordoned' | 'resources' | 'free' | 'labels'
> & {
  /** The tasks of this tenant that it is reserved for; null: those of another one. */
  readonly reservedFor?: { readonly queue: string; readonly key: string } | null;
};

export interface SeenWorkers {
  /** Those of the tenant. */
  readonly workers: readonly WorkerView[];
  /** All that serve the tenant, those of the fleet too. */
  readonly serving: readonly ServingWorker[];
  /** Some of the attempts that each of them runs, by its id. */
  readonly holds: ReadonlyMap<string, readonly ClaimRef[]>;
  /** Servers that gave no answer. */
  readonly missing: readonly string[];
}

export interface SeenQueues {
  /** Those with tasks of the tenant. */
  readonly queues: readonly QueueSeen[];
  /** Servers that gave no answer. */
  readonly missing: readonly string[];
}

/** Who has slots of a limit, and which servers gave no answer. */
export type SeenSlots = SlotsSeen & { readonly missing: readonly string[] };

export interface SeenBlockers {
  readonly blockers: readonly Blocker[];
  /** Servers that gave no answer. */
  readonly missing: readonly string[];
}

/** With the servers that gave no answer. */
export type SeenWait = WaitSeen & { readonly missing: readonly string[] };

/** How the main thread is. */
export interface MainMetrics {
  readonly host: HostMetrics | null;
  readonly loop: LoopDelay;
  /** Null before the first measurement. */
  readonly clock: ClockSeen | null;
}

export interface Readiness {
  /** Shards that have an owner, as far as this node knows. */
  readonly shardsOwned: number;
  readonly shardCount: number;
}

export type EdgeAsks =
  | { readonly kind: 'command'; readonly no: number; readonly command: Command; readonly deadlineMs: number }
  | { readonly kind: 'workers'; readonly no: number; readonly tenantId: TenantId }
  | { readonly kind: 'queues'; readonly no: number; readonly tenantId: TenantId }
  | {
      readonly kind: 'drain';
      readonly no: number;
      readonly tenantId: TenantId;
      readonly workerId: WorkerId;
      readonly evictMs?: number;
    }
  | { readonly kind: 'progress'; readonly no: number; readonly runId: RunId }
  | { readonly kind: 'slots'; readonly no: number; readonly limit: LimitName }
  | { readonly kind: 'blockers'; readonly no: number; readonly tenantId: TenantId }
  | { readonly kind: 'wait'; readonly no: number; readonly task: WaitingTask }
  | { readonly kind: 'metrics'; readonly no: number }
  | { readonly kind: 'dropExpired'; readonly no: number }
  | { readonly kind: 'readiness'; readonly no: number };

export type MainAnswers =
  | { readonly kind: 'routed'; readonly no: number; readonly routed: Routed }
  | { readonly kind: 'workers'; readonly no: number; readonly seen: SeenWorkers }
  | { readonly kind: 'queues'; readonly no: number; readonly seen: SeenQueues }
  | { readonly kind: 'drained'; readonly no: number; readonly isKnown: boolean }
  | { readonly kind: 'progress'; readonly no: number; readonly told: readonly ProgressSeen[] }
  | { readonly kind: 'slots'; readonly no: number; readonly seen: SeenSlots }
  | { readonly kind: 'blockers'; readonly no: number; readonly seen: SeenBlockers }
  | { readonly kind: 'wait'; readonly no: number; readonly seen: SeenWait }
  | { readonly kind: 'metrics'; readonly no: number; readonly metrics: MainMetrics }
  | { readonly kind: 'dropped'; readonly no: number; readonly dropped: RetentionRun }
  | { readonly kind: 'readiness'; readonly no: number; readonly readiness: Readiness }
  /** What was asked for failed; why is in the log. */
  | { readonly kind: 'unanswered'; readonly no: number };

/** From the edge to the main thread. */
export type FromEdge =
  | { readonly kind: 'asks'; readonly asks: readonly EdgeAsks[] }
  | { readonly kind: 'listening'; readonly ports: EdgePorts }
  | { readonly kind: 'failed'; readonly at: 'http' | 'services' | 'start'; readonly error: string }
  | { readonly kind: 'closed' };

/** From the main thread to the edge. */
export type ToEdge =
  | { readonly kind: 'answers'; readonly answers: readonly MainAnswers[] }
  | { readonly kind: 'close' };
