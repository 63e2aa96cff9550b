/**
 * Which node gets free slots on loan. While no other node asks, all slots are lent to the engine of this node, which can use
 * them in the same step as a submission. A node that asks gets slots for one decision, or for a second. The highest priority
 * comes first; nodes with the same priority take turns (D6).
 */
import { type Demand, type NodeId, PRIORITIES, type QueueKey, queueKey, type WorkerId } from '@signalbox/engine';
import type { Clock } from '../ports.ts';
import type { Session } from './session.ts';

interface LendingPorts {
  readonly self: NodeId;
  /** The engine of this node is at work: slots can be lent to it. */
  readonly isServing: () => boolean;
  readonly clock: Clock;
  readonly lendHere: (session: Session, count: number) => void;
  readonly recallHere: (session: Session, count: number) => void;
  readonly lendThere: (nodeId: NodeId, session: Session, count: number) => boolean;
}

const LOAN_MS = 1_000;

export class Lending {
  private readonly ports: LendingPorts;
  /** What nodes wait for, this one too: by node, queue, priority. Lowered by what is lent, until the node tells anew. */
  private readonly wanted = new Map<NodeId, Map<QueueKey, number[]>>();

  /** The same of speculative attempts: a slot of any worker but the one that has the slow attempt. */
  private readonly wantedApart = new Map<NodeId, { key: QueueKey; priority: number; from: WorkerId }[]>();

  constructor(ports: LendingPorts) {
    this.ports = ports;
  }

  /** A node has told what it waits for. */
  demand(from: NodeId, demand: readonly Demand[], sessions: Iterable<Session>): void {
    const wanted = new Map(demand.map(({ tenantId, queue, counts }) => [queueKey(tenantId, queue), [...counts]]));
    if (demand.length > 0) this.wanted.set(from, wanted);
    else this.wanted.delete(from);
    const apart = demand.flatMap(({ tenantId, queue, apart: wishes = [] }) =>
      wishes.map((wish) => ({ key: queueKey(tenantId, queue), ...wish })),
    );
    if (apart.length > 0) this.wantedApart.set(from, apart);
    else this.wantedApart.delete(from);
    if (from === this.ports.self || demand.length === 0) return;
    for (const session of sessions) {
      if (session.free > 0) this.offer(session);
      // What stands lent to this node's own engine is idle there: it uses what it can in the step in which it gets it.
      const standing = session.lent.get(this.ports.self) ?? 0;
      const isWanted =
        session.queueKeys.some((key) => wanted.get(key)?.some((count) => count > 0)) ||
        apart.some((wish) => isFor(wish, session));
      if (standing > 0 && isWanted) this.ports.recallHere(session, standing);
    }
  }

  forget(nodeId: NodeId): void {
    this.wanted.delete(nodeId);
    this.wantedApart.delete(nodeId);
  }

  /** Lends what the worker has free. */
  offer(session: Session): void {
    const shares = new Map<NodeId, number>();
    while (session.free > 0) {
      const waiting = this.bestTaker(session);
      // With nobody to lend to they stay free, until the engine begins or a node asks.
      if ((waiting ?? this.ports.self) === this.ports.self && !this.ports.isServing()) break;
      const taker = waiting ?? this.ports.self;
      const count = waiting === null ? session.free : 1;
      session.lend(taker, count);
      shares.set(taker, (shares.get(taker) ?? 0) + count);
    }
    for (const [nodeId, count] of shares) {
      if (nodeId === this.ports.self) this.ports.lendHere(session, count);
      else this.lendThere(nodeId, session, count);
    }
  }

  /** The worker takes no more work. */
  recallAll(session: Session): void {
    this.recall(session, Number.POSITIVE_INFINITY);
  }

  /** The worker takes less than was lent. What other nodes have comes back by itself within a second. */
  recall(session: Session, count: number): void {
    const standing = Math.min(count, session.lent.get(this.ports.self) ?? 0);
    if (standing > 0) this.ports.recallHere(session, standing);
  }

  private lendThere(nodeId: NodeId, session: Session, count: number): void {
    const loanNo = session.limit(nodeId, count);
    const isSent = this.ports.lendThere(nodeId, session, count);
    if (!isSent) this.forget(nodeId);
    this.ports.clock.after(isSent ? LOAN_MS : 0, () => {
      // Claimed or returned by now, or lost on the way. An assignment that still comes is refused by the worker.
      if (session.endOverdue(loanNo) > 0) this.offer(session);
    });
  }

  /** The node that waits for something of the highest priority which this worker can run; it counts as served by one. */
  private bestTaker(session: Session): NodeId | null {
    let best: { nodeId: NodeId; counts: number[]; priority: number } | null = null;
    for (const [nodeId, queues] of this.wanted) {
      for (const key of session.queueKeys) {
        const counts = queues.get(key);
        const priority = counts?.findIndex((count) => count > 0) ?? -1;
        if (counts !== undefined && priority >= 0 && (best === null || priority < best.priority)) {
          best = { nodeId, counts, priority };
        }
      }
    }
    const apart = this.bestApart(session);
    if (apart !== null && apart.priority <= (best?.priority ?? PRIORITIES.length)) {
      apart.serve();
      return apart.nodeId;
    }
    if (best === null) return null;
    best.counts[best.priority]! -= 1;
    // To the end of the row: among equals each has its turn.
    const queues = this.wanted.get(best.nodeId)!;
    this.wanted.delete(best.nodeId);
    this.wanted.set(best.nodeId, queues);
    return best.nodeId;
  }

  /** The node that has the most urgent speculative attempt for which this is another worker; it counts as served where it is chosen. */
  private bestApart(session: Session): { nodeId: NodeId; priority: number; serve(): void } | null {
    let best: ReturnType<Lending['bestApart']> = null;
    for (const [nodeId, wishes] of this.wantedApart) {
      for (const wish of wishes) {
        if (!isFor(wish, session) || (best !== null && best.priority <= wish.priority)) continue;
        best = { nodeId, priority: wish.priority, serve: () => wishes.splice(wishes.indexOf(wish), 1) };
      }
    }
    return best;
  }
}

function isFor({ key, from }: { key: QueueKey; from: WorkerId }, { workerId, queueKeys }: Session): boolean {
  return workerId !== from && queueKeys.includes(key);
}
