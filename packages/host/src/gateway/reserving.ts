/**
 * Reserves workers for tasks that have waited for room for long: small tasks would fill each room that comes free before a large one fits,
 * or before a worker is idle for one that wants it for itself. A reserved worker takes nothing of the task's class or below until it fits.
 *
 * The owner of the task says so with what it waits for, and each gateway reserves one of its workers for it; for a gang as many as it needs,
 * one after the other as they come free. The reservation
 * lasts as long as the owner says so: it ends when the task has begun anywhere, is cancelled, or its owner or the worker goes.
 */
import { misfitOf, type NodeId, type Request, requestKey } from '@signalbox/engine';
import type { Clock } from '../ports.ts';
import type { Reservation, Session } from './session.ts';
import type { Wanted } from './wanted.ts';

interface ReservingPorts {
  readonly clock: Clock;
  /** What nodes wait for. */
  readonly wanted: ReadonlyMap<NodeId, readonly Wanted[]>;
  /** All that is lent of the worker comes back. */
  readonly recall: (session: Session) => void;
  readonly offer: (session: Session) => void;
}

/** Owners tell every half second while they wait. One that says nothing for so long has lost its memory. */
const SILENT_MS = 5_000;
/** No more than this share of the workers is reserved, but one always may be. */
const MOST_SHARE = 0.5;

export class Reserving {
  private readonly ports: ReservingPorts;
  private readonly sessions = new Set<Session>();
  private readonly toldAt = new Map<NodeId, number>();

  constructor(ports: ReservingPorts) {
    this.ports = ports;
  }

  /** A node has told what it waits for. */
  settle(from: NodeId, sessions: readonly Session[]): void {
    const wishes = (this.ports.wanted.get(from) ?? []).filter(
      ({ reserve, request }) => reserve !== null && request !== null,
    );
    if (wishes.length === 0 && this.sessions.size === 0) return;
    this.toldAt.set(from, this.ports.clock.mono());
    const changed = new Set<Session>();
    for (const session of this.sessions) {
      // Another node may wait for something of a higher class.
      changed.add(session);
      const { reserved } = session;
      const isOver = reserved === null || (reserved.nodeId === from && this.wishOf(reserved) === undefined);
      if (isOver || session.isGone) this.release(session);
    }
    for (const wish of wishes) {
      for (let more = this.reserve(from, wish, sessions); more !== null; more = this.reserve(from, wish, sessions))
        changed.add(more);
    }
    for (const session of changed) this.ports.offer(session);
  }

  /** What the owner says of the task that the worker is reserved for; undefined: it waits no more. */
  wishOf({ nodeId, tenantId, queue, requestKey: key, priority }: Reservation): Wanted | undefined {
    const isSame = (one: Wanted) =>
      one.reserve === priority && one.tenantId === tenantId && one.queue === queue && requestKey(one.request!) === key;
    return this.ports.wanted.get(nodeId)?.find(isSame);
  }

  /** The owner is gone. */
  forget(nodeId: NodeId): void {
    this.toldAt.delete(nodeId);
    for (const session of this.sessions) {
      if (session.reserved?.nodeId !== nodeId) continue;
      this.release(session);
      this.ports.offer(session);
    }
  }

  /** Ends the reservation of an owner that has not told of it for a while. */
  drop(session: Session): void {
    if (session.reserved === null) return;
    const toldAt = this.toldAt.get(session.reserved.nodeId) ?? Number.NEGATIVE_INFINITY;
    if (this.ports.clock.mono() - toldAt > SILENT_MS) this.release(session);
  }

  release(session: Session): void {
    session.reserved = null;
    this.sessions.delete(session);
  }

  private reserve(nodeId: NodeId, wish: Wanted, sessions: readonly Session[]): Session | null {
    const { tenantId, queue } = wish;
    const request = wish.request!;
    const key = requestKey(request);
    const isFor = ({ reserved: one }: Session) =>
      one?.nodeId === nodeId && one.tenantId === tenantId && one.queue === queue && one.requestKey === key;
    const own = [...this.sessions].filter(isFor);
    if (own.length >= workersFor(request, own)) return null;
    // A gang needs all of its workers at one time.
    const most = Math.max(1, Math.floor(MOST_SHARE * sessions.length), request.gang?.size ?? 0);
    if (this.sessions.size >= most) return null;
    const able = sessions.filter((session) => mayHold(session, wish, request));
    const [best] = able.sort((a, b) => missing(a, request) - missing(b, request));
    if (best === undefined) return null;
    best.reserved = { nodeId, tenantId, queue, request, requestKey: key, priority: wish.reserve! };
    this.sessions.add(best);
    this.ports.recall(best);
    return best;
  }
}

/** How many are reserved for it: as many as a gang has members, or fewer where those share. */
function workersFor({ gang }: Request, reserved: readonly Session[]): number {
  if (gang === undefined) return 1;
  if (gang.share !== true) return gang.size;
  const slots = reserved.reduce((sum, session) => sum + session.slots, 0);
  return slots >= gang.size ? reserved.length : gang.size;
}

function mayHold(session: Session, { tenantId, queue }: Wanted, request: Request): boolean {
  const { traits, reserved, isDraining, isCordoned, isGone } = session;
  if (traits === null || reserved !== null || isDraining || isCordoned || isGone) return false;
  return session.serves(tenantId, queue) && misfitOf(request, traits) === null;
}

/** How far the worker is from having room, as a share of what is asked for: the nearest is reserved. */
function missing(session: Session, { resources, exclusive }: Request): number {
  const left = session.untaken();
  let sum = exclusive ? session.held.size / session.slots : session.free > 0 ? 0 : 1 / session.slots;
  for (const name in resources) {
    const wanted = resources[name]!;
    if (wanted > 0) sum += Math.max(0, wanted - (left[name] ?? 0)) / wanted;
  }
  return sum;
}
