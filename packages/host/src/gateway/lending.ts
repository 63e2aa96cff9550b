/**
 * Which node gets free slots on loan. While no other node asks, all slots are lent to the engine of this node, which can use
 * them in the same step as a submission. A node that asks gets slots for one decision, or for a second. The highest priority
 * comes first; nodes with the same priority take turns (D6).
 *
 * Slots of workers that several tenants share are lent for one tenant at a time, so that tenants share by weight whichever node
 * their tasks are on: see `tenant-turns.ts`.
 *
 * A task that has waited for room for long gets a worker reserved: see `reserving.ts`.
 *
 * The resources of a worker go with its slots. The engine of this node gets all that nobody asked for; another node, or another tenant's
 * turn, gets with each slot what the task asks for that it was chosen for, and no more. So several nodes can claim on one worker at a
 * time, and the sum of what is lent and taken never exceeds what it has (I24).
 */
import {
  type Amounts,
  addAmounts,
  type Demand,
  isEmpty,
  NOTHING,
  type NodeId,
  PRIORITIES,
  type QueueName,
  type Request,
  type Room,
  requestKey,
  type TenantId,
  type WorkerId,
} from '@signalbox/engine';
import type { Clock } from '../ports.ts';
import { Reserving } from './reserving.ts';
import type { Session } from './session.ts';
import { TenantTurns } from './tenant-turns.ts';
import type { Wanted } from './wanted.ts';

interface LendingPorts {
  readonly self: NodeId;
  /** The engine of this node is at work: slots can be lent to it. */
  readonly isServing: () => boolean;
  readonly clock: Clock;
  /** Until recalled, for all that the worker serves; or for one decision, for one tenant. */
  readonly lendHere: (session: Session, loan: Loan, forTenant: TenantId | null) => void;
  /** With all resources that it has of the worker. */
  readonly recallHere: (session: Session, count: number) => void;
  readonly lendThere: (nodeId: NodeId, session: Session, loan: Loan, forTenant: TenantId) => boolean;
}

/** Slots of one worker, and what goes with them. */
export interface Loan {
  count: number;
  readonly room: Room;
  /** For tasks that ask for more than a slot. */
  readonly isForRequest: boolean;
  /** For tasks with this request, and no others: the worker was reserved for them. */
  readonly only?: Request;
}

interface Wish {
  readonly tenantId: TenantId;
  readonly queue: QueueName;
  readonly request: Request | null;
  readonly priority: number;
  readonly from: WorkerId;
}

interface Taker {
  readonly nodeId: NodeId;
  readonly tenantId: TenantId;
  readonly request: Request | null;
  /** The worker was reserved for it. */
  readonly isReserved?: true;
}

const LOAN_MS = 1_000;

export class Lending {
  private readonly ports: LendingPorts;
  /** What nodes wait for, this one too. Lowered by what is lent, until the node tells anew. */
  private readonly wanted = new Map<NodeId, readonly Wanted[]>();
  /** The same of speculative attempts: a slot of any worker but the one that has the slow attempt. */
  private readonly wantedApart = new Map<NodeId, Wish[]>();
  readonly turns = new TenantTurns();
  /** Whose members share a worker, and that get slots of the one that is being offered. */
  private readonly gangs = new Set<Wanted>();
  private readonly reserving: Reserving;

  constructor(ports: LendingPorts) {
    this.ports = ports;
    this.reserving = new Reserving({
      clock: ports.clock,
      wanted: this.wanted,
      recall: (session) => this.recall(session, Number.POSITIVE_INFINITY),
      offer: (session) => this.offer(session),
    });
  }

  /** A node has told what it waits for. */
  demand(from: NodeId, demand: readonly Demand[], connected: Iterable<Session>): void {
    const sessions = [...connected];
    const wanted = demand.map(({ tenantId, queue, request = null, counts, reserve = null, head = null }) => ({
      ...{ tenantId, queue, request, reserve, head },
      counts: [...counts],
      isReserveLent: false,
      lentBy: request?.gang === undefined ? null : new Set<object>(),
    }));
    if (demand.length > 0) this.wanted.set(from, wanted);
    else this.wanted.delete(from);
    const apart = demand.flatMap(({ tenantId, queue, request = null, apart: wishes = [] }) =>
      wishes.map((wish) => ({ tenantId, queue, request, ...wish })),
    );
    if (apart.length > 0) this.wantedApart.set(from, apart);
    else this.wantedApart.delete(from);
    this.reserving.settle(from, sessions);
    if (from === this.ports.self || demand.length === 0) return;
    for (const session of sessions) {
      if (session.free > 0) this.offer(session);
      // What stands lent to this node's own engine is idle there: it uses what it can in the step in which it gets it.
      const { self } = this.ports;
      const standing = session.lent.get(self) ?? 0;
      const isWanted =
        wanted.some((one) => isServed(one, session, self) && one.counts.some((count) => count > 0)) ||
        apart.some((wish) => isFor(wish, session, self));
      if (session.hasLent(self) && isWanted) this.ports.recallHere(session, standing);
    }
  }

  forget(nodeId: NodeId): void {
    this.wanted.delete(nodeId);
    this.wantedApart.delete(nodeId);
    this.reserving.forget(nodeId);
  }

  /** Lends what the worker has free. Of a stream that is gone nothing is lent, though the time of a loan may end later (I24). */
  offer(session: Session): void {
    if (session.isGone) return;
    const { self } = this.ports;
    this.reserving.drop(session);
    const shares = new Map<string, Loan & { readonly nodeId: NodeId; readonly tenantId: TenantId | null }>();
    while (session.free > 0) {
      const taker = session.reserved === null ? this.bestTaker(session) : this.takerOfReserved(session);
      if (taker === null && session.reserved !== null) break;
      const nodeId = taker?.nodeId ?? self;
      // With nobody to lend to they stay free, until the engine begins or a node asks.
      if (nodeId === self && !this.ports.isServing()) break;
      // The engine of this node gets what nobody asked for, and shares it by itself.
      const isStanding = taker === null || (nodeId === self && !session.isShared && session.reserved === null);
      const tenantId = isStanding ? null : taker.tenantId;
      const request = taker?.request ?? null;
      const count = taker === null || request?.exclusive === true ? session.free : 1;
      const room = request?.resources ?? NOTHING;
      session.lend(nodeId, count);
      session.lendRoom(nodeId, room);
      const only = taker?.isReserved === true && request !== null ? { only: request } : {};
      const asked = request === null || tenantId === null ? '' : requestKey(request);
      const key = `${nodeId}/${tenantId}${asked}${taker?.isReserved === true ? '!' : ''}`;
      const share = shares.get(key);
      if (share === undefined) {
        shares.set(key, { nodeId, tenantId, count, room: { ...room }, isForRequest: request !== null, ...only });
      } else {
        share.count += count;
        addAmounts(share.room, room);
      }
    }
    for (const gang of this.gangs) gang.lentBy?.add(session);
    this.gangs.clear();
    const standing = shares.get(`${self}/null`);
    if (standing === undefined) this.lendRest(session);
    else {
      const rest = session.roomLeft;
      session.lendRoom(self, rest);
      addAmounts(standing.room, rest);
    }
    for (const { nodeId, tenantId, ...loan } of shares.values()) {
      if (nodeId === self || tenantId === null) this.ports.lendHere(session, loan, tenantId);
      else this.lendThere(nodeId, session, loan, tenantId);
    }
  }

  /** Resources that came back while no slot is free go to whom the slots are lent: the engine of this node. */
  private lendRest(session: Session): void {
    const { self } = this.ports;
    if (session.reserved !== null) return;
    if (session.traits === null || (session.lent.get(self) ?? 0) === 0 || !this.ports.isServing()) return;
    const room: Amounts = session.roomLeft;
    if (isEmpty(room)) return;
    session.lendRoom(self, room);
    this.ports.lendHere(session, { count: 0, room: { ...room }, isForRequest: false }, null);
  }

  /** The worker takes no more work. */
  recallAll(session: Session): void {
    this.reserving.release(session);
    this.recall(session, Number.POSITIVE_INFINITY);
  }

  /** The worker takes less than was lent. What other nodes have comes back by itself within a second. */
  recall(session: Session, count: number): void {
    const { self } = this.ports;
    const standing = Math.min(count, session.lent.get(self) ?? 0);
    if (standing > 0 || session.hasLent(self)) this.ports.recallHere(session, standing);
  }

  private lendThere(nodeId: NodeId, session: Session, loan: Loan, forTenant: TenantId): void {
    const loanNo = session.limit(nodeId, loan.count, { ...loan.room });
    const isSent = this.ports.lendThere(nodeId, session, loan, forTenant);
    if (!isSent) this.forget(nodeId);
    this.ports.clock.after(isSent ? LOAN_MS : 0, () => {
      // Claimed or returned by now, or lost on the way. An assignment that still comes is refused by the worker.
      if (session.endOverdue(loanNo) > 0) this.offer(session);
    });
  }

  /**
   * The node that waits for something of the highest priority which this worker can run; it counts as served by one. Of several
   * tenants the one whose turn it is, and of its queues likewise.
   */
  private bestTaker(session: Session, below: number = PRIORITIES.length): Taker | null {
    let best: { nodeId: NodeId; one: Wanted; priority: number } | null = null;
    for (const [nodeId, wanted] of this.wanted) {
      for (const one of wanted) {
        if (!isServed(one, session, null) || one.lentBy?.has(session) === true) continue;
        const priority = one.counts.findIndex((count) => count > 0);
        if (priority < 0 || priority >= below) continue;
        const isBetter =
          best === null ||
          priority < best.priority ||
          (priority === best.priority && this.isBefore(session, one, best.one));
        if (isBetter) best = { nodeId, one, priority };
      }
    }
    const apart = this.bestApart(session);
    if (apart !== null && apart.wish.priority < below && apart.wish.priority <= (best?.priority ?? PRIORITIES.length)) {
      apart.serve();
      return { nodeId: apart.nodeId, tenantId: apart.wish.tenantId, request: apart.wish.request };
    }
    if (best === null) return null;
    const { nodeId, one, priority } = best;
    one.counts[priority]! -= 1;
    this.noteGang(one, session);
    if (session.isShared) this.turns.take(one.tenantId);
    session.turns?.take(one.queue);
    // To the end of the row: among equals each has its turn.
    const wanted = this.wanted.get(nodeId)!;
    this.wanted.delete(nodeId);
    this.wanted.set(nodeId, wanted);
    return { nodeId, tenantId: one.tenantId, request: one.request };
  }

  /**
   * A worker lends to a gang once for each time that its node tells: what comes back unused is for others until then. Members that share
   * a worker get all of its free slots at that one time.
   */
  private noteGang(one: Wanted, session: Session): void {
    if (one.request?.gang?.share === true) this.gangs.add(one);
    else one.lentBy?.add(session);
  }

  /** Higher classes first, then the task that the worker is reserved for, once it fits; nobody else. */
  private takerOfReserved(session: Session): Taker | null {
    const { nodeId, tenantId, request, priority } = session.reserved!;
    const higher = this.bestTaker(session, priority);
    if (higher !== null) return higher;
    const one = this.reserving.wishOf(session.reserved!);
    // Once for each time that the node tells: what it sends back unused does not go to and fro.
    if (one === undefined || !session.fits(request, null)) return null;
    const shown = Math.min(priority, PRIORITIES.length - 1);
    if (request.gang === undefined ? one.isReserveLent : one.counts[shown] === 0) return null;
    if (one.lentBy?.has(session) === true) return null;
    one.isReserveLent = true;
    this.noteGang(one, session);
    one.counts[shown]! -= 1;
    return { nodeId, tenantId, request, isReserved: true };
  }

  /** Tenants take turns first, then the queues of one tenant, where the worker gives them weights. */
  private isBefore({ turns }: Session, a: Wanted, b: Wanted): boolean {
    // Two gangs that take turns would each get half of what they need, at every gateway: the older one goes first at all of them.
    if (a.head !== null && b.head !== null) return a.head < b.head;
    if (a.tenantId !== b.tenantId) return this.turns.isBefore(a.tenantId, b.tenantId);
    return turns !== null && turns.tagOf(a.queue) < turns.tagOf(b.queue);
  }

  /** The node that has the most urgent speculative attempt for which this is another worker; it counts as served where it is chosen. */
  private bestApart(session: Session): { nodeId: NodeId; wish: Wish; serve(): void } | null {
    let best: ReturnType<Lending['bestApart']> = null;
    for (const [nodeId, wishes] of this.wantedApart) {
      for (const wish of wishes) {
        if (!isFor(wish, session, null) || (best !== null && best.wish.priority <= wish.priority)) continue;
        best = { nodeId, wish, serve: () => wishes.splice(wishes.indexOf(wish), 1) };
      }
    }
    return best;
  }
}

/** The worker can run it now; with `recallable`, if what the engine of that node has unused came back. */
function isServed(
  { tenantId, queue, request }: Pick<Wanted, 'tenantId' | 'queue' | 'request'>,
  session: Session,
  recallable: NodeId | null,
) {
  return session.serves(tenantId, queue) && (request === null || session.fits(request, recallable));
}

function isFor(wish: Wish, session: Session, recallable: NodeId | null): boolean {
  return session.workerId !== wish.from && isServed(wish, session, recallable);
}
