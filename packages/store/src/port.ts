/**
 * What the store promises to the host. Two things keep it: `postgres-store.ts` over PostgreSQL, and the simulator's fake.
 * Both pass `conformance/`.
 *
 * Words: a *node* is one server process. A *chain* is the row of commits of one node, on one connection: commit n+1 is
 * sent before n is answered, and fails if n did. A *shard* is locked, checked and counted up by each commit that touches it.
 */
import type {
  AdmittedCount,
  Change,
  DagId,
  Epoch,
  Instant,
  LoadedTables,
  Need,
  NodeId,
  PayloadKey,
  Priority,
  RunId,
  Seen,
  ShardNo,
  StoredDag,
  StoredRun,
  StoredSchedule,
  StoredShard,
  StoredVersion,
  TenantId,
  VersionNo,
} from '@signalbox/engine';

export { type PayloadKey, payloadName } from '@signalbox/engine';

/** One shard's part in a commit. */
export interface ShardStamp {
  readonly shard: ShardNo;
  readonly epoch: Epoch;
  /** The number this commit gives the shard: one more than its last. */
  readonly commitNo: number;
  readonly lastRunId: RunId;
  readonly lastDagNo: number;
}

export interface CommitBatch {
  /** Each shard that the changes touch. The store locks them in order of their number. */
  readonly shards: readonly ShardStamp[];
  readonly changes: readonly Change[];
  /** The owner's wall clock at the decision: the time of the journal row. */
  readonly at: Instant;
}

/**
 * Commits of one node, in order. `commit` may be called again before the last one has settled; promises settle in order.
 * A rejection means *not done or unknown*: from then on every later commit of the chain is rejected too, and nothing that
 * was sent on this chain can become true once `close` has resolved or the shards' epochs have been raised (I14, I16).
 */
export interface CommitChain {
  commit(batch: CommitBatch): Promise<void>;
  /** Drops the connection at once; does not wait for what is in flight. */
  close(): Promise<void>;
}

export type CommitFailure =
  /** An epoch or commit number was not the expected one: another node has taken a shard, or the chain broke. */
  | 'fenced'
  /** The database refused it: nothing of it was done. */
  | 'refused'
  /** The connection went, or the commit ended with a warning: it may have been done. */
  | 'unknown';

export class CommitError extends Error {
  readonly failure: CommitFailure;
  constructor(failure: CommitFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommitError';
    this.failure = failure;
  }
}

/** A constraint was violated by a commit: a bug, never a way to find duplicates (D1). Comes as the `cause` of a `refused`. */

/** One server process, and where it is reached. */
export interface NodeAddresses {
  readonly nodeId: NodeId;
  /** Where other nodes reach it: host:port of its gRPC door. */
  readonly peerAddress: string;
  /** Where workers reach its gateway. */
  readonly gatewayAddress: string;
  /** Where it takes logs, gives out bundles and answers services; empty when it does none of these. */
  readonly dataAddress: string;
}

/** How a node makes itself known. */
export interface NodeRegistration extends NodeAddresses {
  /** Of the product. For people: no node decides by the version of another. */
  readonly version: string;
}

/** What a node reaches: it tells so when it changes. */
export interface NodeReach {
  /** Other nodes from which it gets no answer. */
  readonly cutFrom: readonly NodeId[];
  /** Workers are connected to it. */
  readonly hasWorkers: boolean;
}

export interface NodeSeen extends NodeAddresses {
  /** Raised by the node each second. A node whose heartbeat stays the same for long enough counts as dead (D5). */
  readonly beat: number;
  /** It has said that it is leaving and takes no shards any more. */
  readonly leaving: boolean;
  /** Null: it is of an older version, and does not tell. */
  readonly reach: NodeReach | null;
  /** The format of the journal that it writes; null: of an older version, too. */
  readonly journalFormat: number | null;
}

export interface ShardSeen {
  readonly shard: ShardNo;
  readonly epoch: Epoch;
  readonly owner: NodeId | null;
}

export interface ClusterSeen {
  readonly nodes: readonly NodeSeen[];
  readonly shards: readonly ShardSeen[];
}

export interface TakeShards {
  readonly nodeId: NodeId;
  /** Taken only if the epoch is still the one that was seen: two nodes that want the same shard do not take turns. */
  readonly shards: readonly { readonly shard: ShardNo; readonly seenEpoch: Epoch }[];
  /** How long to wait for commits in flight on these shards before the backend that holds them is terminated. */
  readonly lockTimeoutMs: number;
  /** A shard that nobody served for longer than this has missed its windows. */
  readonly windowGraceMs: number;
}

export interface TakenShard {
  readonly shard: ShardNo;
  readonly epoch: Epoch;
  /** Loads since the last commit, this one included: at three the shard is loaded with care (D3). */
  readonly loadCount: number;
  /** The run that a careful load was touching when its process died; null when none. */
  readonly currentRun: RunId | null;
}

/** Step one of a load: all that dispatch needs to begin. Read in one snapshot that begins after the take has committed. */
export interface LoadedHeads {
  readonly shards: readonly StoredShard[];
  readonly schedules: readonly StoredSchedule[];
  /** Every live run with a claim, and the first `headsPerPriority` of each priority and shard without one, in id order. */
  readonly runs: readonly StoredRun[];
  readonly dags: readonly StoredDag[];
  readonly versions: readonly StoredVersion[];
  /** Over all live runs of these shards, loaded or not. */
  readonly admitted: readonly AdmittedCount[];
  /** Rows of described tables, in the order of their keys. */
  readonly tables: LoadedTables;
  /** Dags with live runs that remain for `loadRest`, in the order of their ids. */
  readonly partial: readonly DagId[];
}

/** Where the second step of a load goes on: by shard, priority, run. */
export interface RestCursor {
  readonly shard: ShardNo;
  readonly priority: Priority;
  readonly afterRunId: RunId;
}

export interface LoadedRest {
  readonly runs: readonly StoredRun[];
  readonly dags: readonly StoredDag[];
  readonly versions: readonly StoredVersion[];
  /** Null when all is loaded. */
  readonly next: RestCursor | null;
}

/** Where a dag is. */
export interface DagPlace {
  readonly shard: ShardNo;
  readonly dagId: DagId;
}

export interface DagFound {
  readonly shard: ShardNo;
  readonly dagId: DagId;
  /** The version that new runs take. */
  readonly versionNo: VersionNo;
  /** What that version says of its params; null when nothing. */
  readonly paramsSchema: object | boolean | null;
}

export interface Store {
  /** Makes the node known, with beat 1. A node id is used by one process only. */
  registerNode(node: NodeRegistration): Promise<void>;
  /**
   * Raises the node's beat, and notes when. A beat that comes more than `windowGraceMs` after the last one ends a break in
   * service. Called from the renewal thread, over its own connection.
   */
  beat(nodeId: NodeId, windowGraceMs: number): Promise<void>;
  /** The node takes no more shards: others may have its own. */
  markLeaving(nodeId: NodeId): Promise<void>;
  tellReach(nodeId: NodeId, reach: NodeReach): Promise<void>;
  /** Forgets a node that is gone, once it owns nothing. */
  forgetNode(nodeId: NodeId): Promise<void>;
  observe(): Promise<ClusterSeen>;

  /** Raises the epochs and makes the node the owner. Answers with those that were really taken. */
  takeShards(request: TakeShards): Promise<readonly TakenShard[]>;
  /** Gives up ownership in order; the epoch stays, the next owner raises it. Only while the node still owns them. */
  releaseShards(nodeId: NodeId, shards: readonly { readonly shard: ShardNo; readonly epoch: Epoch }[]): Promise<void>;
  /** Before a careful load touches a run; null when it is done with the shard. */
  noteCurrentRun(shard: ShardNo, epoch: Epoch, runId: RunId | null): Promise<void>;

  loadHeads(shards: readonly ShardNo[], headsPerPriority: number): Promise<LoadedHeads>;
  /** The live runs without a claim, in order of shard, priority, id; those of `loadHeads` may come again. */
  loadRest(shards: readonly ShardNo[], after: RestCursor | null, limit: number): Promise<LoadedRest>;
  fetch(needs: readonly Need[]): Promise<Seen>;
  fetchPayloads(keys: readonly PayloadKey[]): Promise<ReadonlyMap<string, string>>;
  /** Where a dag is, whichever shard it is in; null when the tenant has none of that name. */
  findDag(tenantId: TenantId, name: string): Promise<DagFound | null>;
  /** The dags with triggers that wait for an asset, whichever shards they are in; none that is retired. */
  dagsOnAsset(tenantId: TenantId, asset: string): Promise<readonly DagPlace[]>;

  /** A new chain for this node; earlier chains of the same node can commit nothing any more once this has resolved. */
  openChain(nodeId: NodeId): Promise<CommitChain>;
}
