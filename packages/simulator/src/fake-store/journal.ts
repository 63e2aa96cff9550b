/** All that was ever committed, in order, for the checkers: what they replay and hold against what nodes have said. */
import type { Change, Epoch, Instant, NodeId, ShardNo } from '@signalbox/engine';
import type { ShardStamp } from '@signalbox/store';

export interface JournaledCommit {
  readonly kind: 'commit';
  readonly no: number;
  /** Simulated time at which it took effect. */
  readonly committedAt: number;
  readonly store: string;
  readonly nodeId: NodeId;
  readonly shards: readonly ShardStamp[];
  readonly changes: readonly Change[];
  readonly at: Instant;
}

export interface JournaledTake {
  readonly kind: 'take' | 'release';
  readonly no: number;
  readonly committedAt: number;
  readonly store: string;
  readonly nodeId: NodeId;
  readonly taken: readonly { readonly shard: ShardNo; readonly epoch: Epoch }[];
}

export type JournalEntry = JournaledCommit | JournaledTake;
