/** The rows of the fake database: those of the model store, and what a cluster keeps beside them. */
import { type Epoch, type NodeId, type RunId, SHARD_COUNT, type ShardNo, type TenantId } from '@signalbox/engine';
import { ModelTables, Table } from '@signalbox/engine/testing';
import type { NodeAddresses, NodeReach } from '@signalbox/store';

export interface ShardRow {
  readonly shard: ShardNo;
  readonly epoch: Epoch;
  readonly owner: NodeId | null;
  readonly commitNo: number;
  readonly lastRunId: RunId;
  readonly lastDagNo: number;
  readonly loadCount: number;
  readonly currentRun: RunId | null;
  /** By the database's clock: when its last owner let go of it, or took it; null when nobody ever did. */
  readonly servedUntil: number | null;
  /** By the database's clock: windows before this are missed. */
  readonly breakEndedAt: number | null;
}

export interface NodeRow extends NodeAddresses {
  readonly beat: number;
  readonly leaving: boolean;
  readonly reach: NodeReach;
  readonly journalFormat: number;
  readonly beatAt: number;
  readonly breakEndedAt: number | null;
}

/** Which of a node's chains may commit, and how many of its commits were done. */
interface WriterRow {
  readonly chainNo: number;
  readonly commitNo: number;
}

const FIRST_EPOCH = 0 as Epoch;

export class Tables extends ModelTables {
  readonly nodes = new Table<NodeId, NodeRow>(this.log);
  readonly writers = new Table<NodeId, WriterRow>(this.log);
  readonly shards = new Table<ShardNo, ShardRow>(this.log);

  constructor() {
    super();
    for (let shard = 0; shard < SHARD_COUNT; shard++) {
      this.shards.set(shard as ShardNo, {
        shard: shard as ShardNo,
        epoch: FIRST_EPOCH,
        owner: null,
        commitNo: 0,
        lastRunId: 0 as RunId,
        lastDagNo: 0,
        loadCount: 0,
        currentRun: null,
        servedUntil: null,
        breakEndedAt: null,
      });
    }
    this.tenants.set(1 as TenantId, 'default');
    this.log.keep();
  }

  /** A shard's row is there from the first migration on. */
  shard(shard: ShardNo): ShardRow {
    const row = this.shards.get(shard);
    if (row === undefined) throw new RangeError(`there is no shard ${shard}`);
    return row;
  }
}
