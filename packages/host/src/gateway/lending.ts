/**
 * Which node gets free slots on loan. While no other node asks, all slots are lent to the engine of this node, which can use
 * them in the same step as a submission. A node that asks gets slots for one decision, or for a second. The highest priority
 * comes first; nodes with the same priority take turns (D6).
 *
 * Slots of workers that several tenants share are lent for one tenant at a time, so that tenants share by weight whichever node
 * their tasks are on: see `tenant-turns.ts`.
 */
import { type Demand, type NodeId, PRIORITIES, type QueueName, type TenantId, type WorkerId } from '@signalbox/engine';
import type { Clock } from '../ports.ts';
import type { Session } from './session.ts';
import { TenantTurns } from './tenant-turns.ts';

interface LendingPorts {
  readonly self: NodeId;
  /** The engine of this node is at work: slots can be lent to it. */
  readonly isServing: () => boolean;
  readonly clock: Clock;
  /** Until recalled, for all that the worker serves; or for one decision, for one tenant. */
  readonly lendHere: (session: Session, count: number, forTenant: TenantId | null) => void;
  readonly recallHere: (session: Session, count: number) => void;
  readonly lendThere: (nodeId: NodeId, session: Session, count: number, forTenant: TenantId) => boolean;
}

interface Wanted {
  readonly tenantId: TenantId;
  readonly queue: QueueName;
  /** By priority. */
  readonly counts: number[];
}

interface Wish {
  readonly tenantId: TenantId;
  readonly queue: QueueName;
  readonly priority: number;
  readonly from: WorkerId;
}

interface Taker {
  readonly nodeId: NodeId;
  readonly tenantId: TenantId;
}

const LOAN_MS = 1_000;

export class Lending {
  private readonly ports: LendingPorts;
  /** What nodes wait for, this one too. Lowered by what is lent, until the node tells anew. */
  private readonly wanted = new Map<NodeId, readonly Wanted[]>();
  /** The same of speculative attempts: a slot of any worker but the one that has the slow attempt. */
  private readonly wantedApart = new Map<NodeId, Wish[]>();
  readonly turns = new TenantTurns();

  constructor(ports: LendingPorts) {
    this.ports = ports;
  }

  /** A node has told what it waits for. */
  demand(from: NodeId, demand: readonly Demand[], sessions: Iterable<Session>): void {
    const wanted = demand.map(({ tenantId, queue, counts }) => ({ tenantId, queue, counts: [...counts] }));
    if (demand.length > 0) this.wanted.set(from, wanted);
    else this.wanted.delete(from);
    const apart = demand.flatMap(({ tenantId, queue, apart: wishes = [] }) =>
      wishes.map((wish) => ({ tenantId, queue, ...wish })),
    );
    if (apart.length > 0) this.wantedApart.set(from, apart);
    else this.wantedApart.delete(from);
    if (from === this.ports.self || demand.length === 0) return;
    for (const session of sessions) {
      if (session.free > 0) this.offer(session);
      // What stands lent to this node's own engine is idle there: it uses what it can in the step in which it gets it.
      const standing = session.lent.get(this.ports.self) ?? 0;
      const isWanted =
        wanted.some((one) => session.serves(one.tenantId, one.queue) && one.counts.some((count) => count > 0)) ||
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
    const { self } = this.ports;
    const shares = new Map<string, { readonly nodeId: NodeId; readonly tenantId: TenantId | null; count: number }>();
    while (session.free > 0) {
      const taker = this.bestTaker(session);
      const nodeId = taker?.nodeId ?? self;
      // With nobody to lend to they stay free, until the engine begins or a node asks.
      if (nodeId === self && !this.ports.isServing()) break;
      // The engine of this node gets what nobody asked for, and shares it by itself.
      const tenantId = taker === null || (nodeId === self && !session.isShared) ? null : taker.tenantId;
      const count = taker === null ? session.free : 1;
      session.lend(nodeId, count);
      const share = shares.get(`${nodeId}/${tenantId}`);
      if (share === undefined) shares.set(`${nodeId}/${tenantId}`, { nodeId, tenantId, count });
      else share.count += count;
    }
    for (const { nodeId, tenantId, count } of shares.values()) {
      if (nodeId === self || tenantId === null) this.ports.lendHere(session, count, tenantId);
      else this.lendThere(nodeId, session, count, tenantId);
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

  private lendThere(nodeId: NodeId, session: Session, count: number, forTenant: TenantId): void {
    const loanNo = session.limit(nodeId, count);
    const isSent = this.ports.lendThere(nodeId, session, count, forTenant);
    if (!isSent) this.forget(nodeId);
    this.ports.clock.after(isSent ? LOAN_MS : 0, () => {
      // Claimed or returned by now, or lost on the way. An assignment that still comes is refused by the worker.
      if (session.endOverdue(loanNo) > 0) this.offer(session);
    });
  }

  /**
   * The node that waits for something of the highest priority which this worker can run; it counts as served by one. Of several
   * tenants the one whose turn it is.
   */
  private bestTaker(session: Session): Taker | null {
    let best: { nodeId: NodeId; one: Wanted; priority: number } | null = null;
    for (const [nodeId, wanted] of this.wanted) {
      for (const one of wanted) {
        if (!session.serves(one.tenantId, one.queue)) continue;
        const priority = one.counts.findIndex((count) => count > 0);
        if (priority < 0) continue;
        const isBetter =
          best === null ||
          priority < best.priority ||
          (priority === best.priority && this.turns.isBefore(one.tenantId, best.one.tenantId));
        if (isBetter) best = { nodeId, one, priority };
      }
    }
    const apart = this.bestApart(session);
    if (apart !== null && apart.wish.priority <= (best?.priority ?? PRIORITIES.length)) {
      apart.serve();
      return { nodeId: apart.nodeId, tenantId: apart.wish.tenantId };
    }
    if (best === null) return null;
    const { nodeId, one, priority } = best;
    one.counts[priority]! -= 1;
    if (session.isShared) this.turns.take(one.tenantId);
    // To the end of the row: among equals each has its turn.
    const wanted = this.wanted.get(nodeId)!;
    this.wanted.delete(nodeId);
    this.wanted.set(nodeId, wanted);
    return { nodeId, tenantId: one.tenantId };
  }

  /** The node that has the most urgent speculative attempt for which this is another worker; it counts as served where it is chosen. */
  private bestApart(session: Session): { nodeId: NodeId; wish: Wish; serve(): void } | null {
    let best: ReturnType<Lending['bestApart']> = null;
    for (const [nodeId, wishes] of this.wantedApart) {
      for (const wish of wishes) {
        if (!isFor(wish, session) || (best !== null && best.wish.priority <= wish.priority)) continue;
        best = { nodeId, wish, serve: () => wishes.splice(wishes.indexOf(wish), 1) };
      }
    }
    return best;
  }
}

function isFor({ tenantId, queue, from }: Wish, session: Session): boolean {
  return session.workerId !== from && session.serves(tenantId, queue);
}
