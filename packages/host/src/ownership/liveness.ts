/**
 * Which nodes are alive, judged by their heartbeat alone. A node whose heartbeat stays unchanged for the length of the lease
 * is dead. Only time between two successful reads counts: nobody expires because the database can't be read (D5).
 *
 * A process that is started again in place of another has the same address and a new node id. When it appears, the node that
 * had the address before counts as dead at once, because its process is known to be gone. If two servers were given one
 * address by mistake, the next heartbeat of the first shows it; shards that were taken from it are fenced as usual.
 */
import type { NodeId } from '@signalbox/engine';
import type { NodeSeen } from '@signalbox/store';

interface Watched {
  readonly address: string;
  beat: number;
  /** Read time in which the beat did not change. */
  sameForMs: number;
  /** Its beat was seen to rise. */
  isRising: boolean;
}

/** The most that counts of a pause between two reads: the rest may have been our own. */
const LONGEST_GAP_MS = 1_500;

export class Liveness {
  private readonly self: NodeId;
  private readonly leaseMs: number;
  private readonly watched = new Map<NodeId, Watched>();
  private lastReadAt: number | null = null;

  constructor(self: NodeId, leaseMs: number) {
    this.self = self;
    this.leaseMs = leaseMs;
  }

  read(nodes: readonly NodeSeen[], mono: number): void {
    const gap = this.lastReadAt === null ? 0 : mono - this.lastReadAt;
    const counted = Math.min(gap, LONGEST_GAP_MS);
    this.lastReadAt = mono;
    const before = new Set(this.watched.keys());
    const successors: NodeId[] = [];
    for (const { nodeId, beat, peerAddress: address } of nodes) {
      const known = this.watched.get(nodeId);
      if (known === undefined) {
        this.watched.set(nodeId, { address, beat, sameForMs: 0, isRising: false });
        successors.push(nodeId);
      } else if (known.beat !== beat) {
        if (!known.isRising) successors.push(nodeId);
        known.beat = beat;
        known.sameForMs = 0;
        known.isRising = true;
      } else known.sameForMs += counted;
    }
    for (const nodeId of successors) this.supersede(nodeId, before);
    const present = new Set(nodes.map((node) => node.nodeId));
    for (const nodeId of this.watched.keys()) if (!present.has(nodeId)) this.watched.delete(nodeId);
  }

  /** This node is new, or its first heartbeat was seen: the node that had its address before is gone. */
  private supersede(successor: NodeId, before: ReadonlySet<NodeId>): void {
    const { address, isRising } = this.watched.get(successor)!;
    if (address === '') return;
    for (const [nodeId, other] of this.watched) {
      if (nodeId === successor || nodeId === this.self || other.address !== address) continue;
      // Of two that were first seen together the one that beats is the newer one; we ourselves are in any case.
      const isOlder = successor === this.self || (isRising ? !other.isRising : before.has(nodeId));
      if (isOlder) other.sameForMs = Math.max(other.sameForMs, this.leaseMs);
    }
  }

  /** A read failed: what comes next begins a new span. */
  lostSight(): void {
    this.lastReadAt = null;
  }

  /** Its row is gone. If it comes again it is looked at anew: its beat may begin where it stood (I72). */
  forget(nodeId: NodeId): void {
    this.watched.delete(nodeId);
  }

  isDead(nodeId: NodeId): boolean {
    const known = this.watched.get(nodeId);
    return known !== undefined && known.sameForMs >= this.leaseMs;
  }

  /** Seen to be alive, not only not known to be dead: only such a node is given shards that somebody has. */
  isSurelyAlive(nodeId: NodeId): boolean {
    const known = this.watched.get(nodeId);
    return known !== undefined && known.isRising && known.sameForMs < this.leaseMs;
  }
}
