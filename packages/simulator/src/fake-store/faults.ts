/**
 * Where a fault can strike between a node and its database, and what can happen there. The simulator's fault drawer
 * answers for each step; the conformance suite uses `hold` to stop a connection where it likes.
 */
import type { NodeId, ShardNo } from '@signalbox/engine';

/**
 * `connect`: the request has not reached the database. `begin`, `fence`, `write`, `commit`: that statement has arrived and
 * has not taken effect. `answer`: all is done, and the caller has not heard of it.
 */
export type StepPoint = 'connect' | 'begin' | 'fence' | 'write' | 'commit' | 'answer';

export type CallKind = 'commit' | 'open chain' | 'close chain' | 'take' | 'release' | 'touch' | 'node' | 'read';

export interface Step {
  readonly point: StepPoint;
  readonly call: CallKind;
  /** The name that the store was opened with. */
  readonly store: string;
  /** The node that speaks, where the call names one. */
  readonly nodeId: NodeId | null;
  readonly shards: readonly ShardNo[];
  /** The changes are written by the first `write`, the journal by the second. Zero at all other points. */
  readonly writeNo: number;
}

export type StepFault =
  | 'ok'
  /** The connection is gone and both ends notice: what was not committed is rolled back. */
  | 'cut'
  /** The caller sees its connection fail; the database does not, and keeps the transaction with its locks. */
  | 'half-open'
  /** The database answers with an error: full, read-only, deadlock, out of connections. Nothing of it is done. */
  | 'refuse'
  | { readonly delayMs: number }
  /** Stopped until `resume` is called. What comes after it on the same connection waits behind it. */
  | { readonly hold: (resume: (how: 'ok' | 'cut') => void) => void };

export interface DatabaseFaults {
  onStep(step: Step): StepFault;
}

export const noFaults: DatabaseFaults = { onStep: () => 'ok' };

/** Ways to break the store on purpose, to see that the checkers notice. All are off in a store that keeps its promises. */
export interface Sabotage {
  /** The fence looks at no epoch. */
  readonly epochCheck: boolean;
  /** The fence looks at no commit number. */
  readonly commitNoCheck: boolean;
  /** A commit after a failed one of its chain goes through when its own shards allow it. */
  readonly chainCheck: boolean;
  /** A new chain leaves older ones of its node alive. */
  readonly voidOlderChains: boolean;
  /** The fence reads the shard's row without locking it. */
  readonly lock: boolean;
  /** What is loaded after a take was read before the epoch was raised. */
  readonly loadBeforeTake: boolean;
}

export const noSabotage: Sabotage = {
  epochCheck: true,
  commitNoCheck: true,
  chainCheck: true,
  voidOlderChains: true,
  lock: true,
  loadBeforeTake: false,
};
