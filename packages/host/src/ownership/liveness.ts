/**
 * Which nodes are alive, by their beat alone: one whose beat has been read unchanged for the length of the lease is dead.
 * Only time between two reads that both succeeded counts: a database that can't be read makes nobody expire (D5).
 */
import type { NodeId } from '@signalbox/engine';
import type { NodeSeen } from '@signalbox/store';

interface Watched {
  beat: number;
  /** Read time in which the beat did not change. */
  sameForMs: number;
  /** Its beat was seen to rise. */
  isRising: boolean;
}

/** Of a longer pause between two reads only this much counts: the rest may have been ours. */
const LONGEST_GAP_MS = 1_500;

export class Liveness {
  private readonly leaseMs: number;
  private readonly watched = new Map<NodeId, Watched>();
  private lastReadAt: number | null = null;

  constructor(leaseMs: number) {
    this.leaseMs = leaseMs;
  }

  read(nodes: readonly NodeSeen[], mono: number): void {
    const gap = this.lastReadAt === null ? 0 : mono - this.lastReadAt;
    const counted = Math.min(gap, LONGEST_GAP_MS);
    this.lastReadAt = mono;
    for (const { nodeId, beat } of nodes) {
      const known = this.watched.get(nodeId);
      if (known === undefined) this.watched.set(nodeId, { beat, sameForMs: 0, isRising: false });
      else if (known.beat !== beat) {
        known.beat = beat;
        known.sameForMs = 0;
        known.isRising = true;
      } else known.sameForMs += counted;
    }
    const present = new Set(nodes.map((node) => node.nodeId));
    for (const nodeId of this.watched.keys()) if (!present.has(nodeId)) this.watched.delete(nodeId);
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
