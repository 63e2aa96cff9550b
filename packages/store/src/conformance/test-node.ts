/** A node as the suite simulates it: it owns shards, keeps their numbers, and stamps its batches like a host. */
import { randomUUID } from 'node:crypto';
import type { Change, Epoch, Instant, NodeId, RunId, ShardNo } from '@signalbox/engine';
import { nextRunId, shardOfRun } from '@signalbox/engine';
import type { CommitBatch, CommitChain, LoadedHeads, ShardStamp, Store, TakenShard } from '../port.ts';
import { dagNoOf, START } from './changes.ts';
import { type Ending, endingOf } from './eventually.ts';
import type { StoreSubject } from './subject.ts';

const ALL_HEADS = 1_000_000;
/** Long enough that no take of the suite runs into it by being slow. */
const PATIENT_MS = 20_000;
/** Longer than any check takes by being slow. */
export const GRACE_MS = 60_000;

export class TestNode {
  readonly nodeId = randomUUID() as NodeId;
  readonly store: Store;
  readonly stamps = new Map<ShardNo, ShardStamp>();
  /** Its wall clock: where run ids and journal rows get their time from. */
  now: Instant = START;
  #chain: CommitChain | null = null;

  constructor(store: Store) {
    this.store = store;
  }

  /** A node with these shards, loaded and ready to commit. */
  static async start(subject: StoreSubject, shards: readonly number[] = []): Promise<TestNode> {
    return TestNode.on(await subject.open(), shards);
  }

  static async on(store: Store, shards: readonly number[] = []): Promise<TestNode> {
    const node = new TestNode(store);
    const addresses = { peerAddress: 'peer:1', gatewayAddress: 'gateway:1', dataAddress: 'data:1' };
    await node.store.registerNode({ nodeId: node.nodeId, ...addresses, version: '1.2.3' });
    if (shards.length > 0) await node.takeOver(shards);
    return node;
  }

  get chain(): CommitChain {
    if (this.#chain === null) throw new Error('the node has no chain yet');
    return this.#chain;
  }

  async epochOf(shard: number): Promise<Epoch> {
    const { shards } = await this.store.observe();
    const seen = shards.find((one) => one.shard === shard);
    if (seen === undefined) throw new Error(`shard ${shard} is not there`);
    return seen.epoch;
  }

  /** Only the take, from the epochs as they are now. */
  async take(
    shards: readonly number[],
    lockTimeoutMs = PATIENT_MS,
    windowGraceMs = GRACE_MS,
  ): Promise<readonly TakenShard[]> {
    const wanted = await Promise.all(
      shards.map(async (shard) => ({ shard: shard as ShardNo, seenEpoch: await this.epochOf(shard) })),
    );
    return this.store.takeShards({ nodeId: this.nodeId, shards: wanted, lockTimeoutMs, windowGraceMs });
  }

  /** Take, load and open a chain: what a host does at start, and after each failure. */
  async takeOver(shards: readonly number[], lockTimeoutMs = PATIENT_MS): Promise<LoadedHeads> {
    const taken = await this.take(shards, lockTimeoutMs);
    const heads = await this.load(shards);
    for (const { shard, epoch, commitNo, lastRunId, lastDagNo } of heads.shards) {
      const own = taken.find((one) => one.shard === shard);
      if (own !== undefined && own.epoch === epoch)
        this.stamps.set(shard, { shard, epoch, commitNo, lastRunId, lastDagNo });
    }
    this.#chain = await this.store.openChain(this.nodeId);
    return heads;
  }

  load(shards: readonly number[]): Promise<LoadedHeads> {
    return this.store.loadHeads(shards as readonly ShardNo[], ALL_HEADS);
  }

  stamp(shard: number): ShardStamp {
    const stamp = this.stamps.get(shard as ShardNo);
    if (stamp === undefined) throw new Error(`the node has never had shard ${shard}`);
    return stamp;
  }

  /** The next run id of a shard. Counted up at once, as the engine does. */
  newRunId(shard: number): RunId {
    const stamp = this.stamp(shard);
    const lastRunId = nextRunId(stamp.shard, stamp.lastRunId, this.now);
    this.stamps.set(stamp.shard, { ...stamp, lastRunId });
    return lastRunId;
  }

  /** Stamps the changes with the next numbers of their shards. */
  batch(changes: readonly Change[]): CommitBatch {
    const touched = new Set(changes.map((change) => ('shard' in change ? change.shard : shardOfRun(change.runId))));
    const shards = [...touched].map((shard) => {
      const stamp = this.stamp(shard);
      const dagNos = changes.map((change) =>
        change.kind === 'DagDeployed' && change.shard === shard ? dagNoOf(change.dagId) : 0,
      );
      const lastDagNo = Math.max(stamp.lastDagNo, ...dagNos);
      const next = { ...stamp, commitNo: stamp.commitNo + 1, lastDagNo };
      this.stamps.set(shard, next);
      return next;
    });
    return { shards, changes, at: this.now };
  }

  commit(changes: readonly Change[]): Promise<void> {
    return this.chain.commit(this.batch(changes));
  }

  /** Never rejects for a failed commit: tells how it ended. */
  tryCommit(changes: readonly Change[]): Promise<Ending> {
    return endingOf(this.commit(changes));
  }
}
