/** The stream of one worker at its gateway: its free slots, what it holds, and which nodes its slots are lent to. */
import {
  type Amounts,
  addAmounts,
  type Booking,
  type ClaimRef,
  commonAmounts,
  type Epoch,
  hasAmounts,
  isEmpty,
  misfitOf,
  NOTHING,
  type NodeId,
  type QueueName,
  QueueTurns,
  type QueueWeights,
  type Request,
  type Room,
  type RunId,
  type ShardNo,
  subtractAmounts,
  type TenantId,
  type WorkerId,
  type WorkerTraits,
} from '@signalbox/engine';
import type { ProgressSeen } from '../peer/message.ts';
import type { ClaimProgress, WorkerDoor, WorkerHello } from '../ports.ts';

/** A claim that its worker holds, with how long before its heartbeat the attempt told of progress, if it ever did. */
export type HeldClaim = ClaimRef & { readonly progressAgoMs?: number };

/** A task of this node, tenant and queue, with this request, waits for the worker. */
export interface Reservation {
  readonly nodeId: NodeId;
  readonly tenantId: TenantId;
  readonly queue: QueueName;
  readonly request: Request;
  readonly requestKey: string;
  /** Higher classes may still begin. */
  readonly priority: number;
}

export class Session {
  readonly workerId: WorkerId;
  readonly tenantId: TenantId;
  /** Whom it serves; null: every tenant. */
  readonly tenants: readonly TenantId[] | null;
  readonly name: string;
  readonly queues: readonly QueueName[];
  /** In which proportion it takes from its queues; null: the oldest run first. */
  readonly weights: QueueWeights | null;
  /** Of a task that has waited for room for long: nothing of its class or below begins here until it fits. */
  reserved: Reservation | null = null;
  /** Whose turn it is among its queues, of nodes that wait for its slots. */
  readonly turns: QueueTurns | null;
  readonly slots: number;
  /** What it is and has in all; null: it is too old to tell. */
  readonly traits: WorkerTraits | null;
  /** What the claims take that it holds, beside a slot each. Most take nothing. */
  private readonly bookings = new Map<string, Booking>();
  private exclusiveCount = 0;
  /** What is neither taken by claims nor lent. */
  private readonly freeRoom: Room;
  /** Lent, by node. */
  private readonly lentRoom = new Map<NodeId, Room>();
  /** How many more claims it takes than it has slots. */
  ahead = 0;
  readonly door: WorkerDoor;
  /** Among all streams of this gateway. What comes back of the loans of an earlier one is not of this one. */
  streamNo = 0;
  /** Claims that fill a slot: sent on this stream, or proven by hello, and not reported yet. */
  readonly held = new Map<string, ClaimRef>();
  /** Those that its last heartbeat did not contain. If the next one does not either, they never arrived. */
  readonly absent = new Set<string>();
  /** Reports on their way to their owner. */
  readonly reporting = new Map<string, ClaimRef>();
  /** Numbers of asks on their way to their owner. */
  readonly asking = new Set<number>();
  /** According to its last heartbeat. */
  private progress: readonly ClaimProgress[] = [];
  /** What the worker itself showed last, and when: what was only sent to it may not have arrived. */
  shown: { readonly at: number; readonly holds: readonly ClaimRef[] };
  /** Claims that the worker was told are over: a heartbeat that was on its way meanwhile still shows them, and they fill no slot. */
  readonly answered = new Set<string>();
  /** Slots lent, by node. */
  readonly lent = new Map<NodeId, number>();
  /** Loans that end with time, oldest first, each with the number of slots left. */
  private loans: { readonly no: number; readonly nodeId: NodeId; left: number; room: Amounts }[] = [];
  private lastLoanNo = 0;
  /** Epochs that the worker has said it knows. */
  readonly knows = new Map<ShardNo, Epoch>();
  readonly version: string | undefined;
  isDraining: boolean;
  /** It takes nothing new until somebody says otherwise. */
  isCordoned = false;
  /** The stream is gone: nothing of the worker is lent any more, whatever timers are still set. */
  isGone = false;
  heardAt: number;
  /** The clock of its machine was far from that of this node when it was heard last. */
  isClockWrong = false;
  private lentTotal = 0;

  constructor(hello: Omit<WorkerHello, 'holds'>, held: readonly HeldBooking[], door: WorkerDoor, mono: number) {
    this.workerId = hello.workerId;
    this.tenantId = hello.tenantId;
    this.tenants = hello.tenants;
    this.name = hello.name;
    this.queues = hello.queues;
    this.weights = hello.weights ?? null;
    this.turns = this.weights === null ? null : new QueueTurns(this.weights);
    this.slots = hello.slots;
    this.traits = hello.traits ?? null;
    this.freeRoom = { ...hello.traits?.resources };
    this.isDraining = hello.draining;
    this.version = hello.version;
    this.door = door;
    this.heardAt = mono;
    this.shown = { at: mono, holds: held.map(({ claim }) => claim) };
    for (const { claim, booking } of held) this.hold(claim, booking);
  }

  /** Several tenants share it. */
  get isShared(): boolean {
    return this.tenants === null || this.tenants.length > 1;
  }

  serves(tenantId: TenantId, queue: QueueName): boolean {
    return this.queues.includes(queue) && (this.tenants === null || this.tenants.includes(tenantId));
  }

  /** Whether the claim was assigned to this worker, as far as this stream knows. Whatever else it names is not its own. */
  knowsOf(key: string): boolean {
    return this.held.has(key) || this.reporting.has(key) || this.answered.has(key);
  }

  /** The most claims that it can truthfully name in one message. */
  get mostHolds(): number {
    return this.held.size + this.reporting.size + this.answered.size;
  }

  /** The claims that it holds, each with how long ago it told of progress. */
  hearProgress(holds: readonly ClaimRef[], progress: readonly ClaimProgress[]): readonly HeldClaim[] {
    this.progress = progress;
    if (progress.length === 0) return holds;
    const agoMs = new Map(progress.map((told) => [claimKey(told.claim), told.agoMs]));
    return holds.map((claim) => {
      const progressAgoMs = agoMs.get(claimKey(claim));
      return progressAgoMs === undefined ? claim : { ...claim, progressAgoMs };
    });
  }

  progressOf(runId: RunId): ProgressSeen[] {
    return this.progress.flatMap(({ claim, ...told }) =>
      claim.runId === runId ? [{ taskNo: claim.taskNo, attemptNo: claim.attemptNo, fence: claim.fence, ...told }] : [],
    );
  }

  get free(): number {
    return this.isDraining || this.isCordoned || this.isGone || this.exclusiveCount > 0
      ? 0
      : this.slots + this.ahead - this.held.size - this.lentTotal;
  }

  /** Older nodes do not say which stream they mean. */
  isOfStream(no: number | undefined): boolean {
    return no === undefined || no === this.streamNo;
  }

  /** It has nothing to do. */
  get isIdle(): boolean {
    return this.held.size === 0;
  }

  /** What is not taken by claims, lent or not. */
  untaken(): Amounts {
    const all: Room = { ...this.freeRoom };
    for (const room of this.lentRoom.values()) addAmounts(all, room);
    return all;
  }

  /** Could run such a task now, if what this node's own engine has unused came back. */
  fits(request: Request, recallable: NodeId | null): boolean {
    const { traits } = this;
    if (traits === null || misfitOf(request, traits) !== null) return false;
    const own = recallable === null ? undefined : this.lentRoom.get(recallable);
    const room: Room = { ...this.freeRoom };
    if (own !== undefined) addAmounts(room, own);
    if (!hasAmounts(room, request.resources)) return false;
    const slots = this.free + (recallable === null ? 0 : (this.lent.get(recallable) ?? 0));
    return request.exclusive ? this.isIdle && slots >= this.slots : slots > 0;
  }

  /** The claim fills a slot, and takes what it asked for. */
  hold(claim: ClaimRef, booking: Booking | undefined): void {
    const key = claimKey(claim);
    this.held.set(key, claim);
    if (booking === undefined || this.bookings.has(key)) return;
    this.bookings.set(key, booking);
    subtractAmounts(this.freeRoom, booking.resources);
    if (booking.exclusive) this.exclusiveCount += 1;
  }

  /** The claim fills no slot any more. */
  release(key: string): void {
    this.held.delete(key);
    this.absent.delete(key);
    const booking = this.bookings.get(key);
    if (booking === undefined) return;
    this.bookings.delete(key);
    addAmounts(this.freeRoom, booking.resources);
    if (booking.exclusive) this.exclusiveCount -= 1;
  }

  lend(nodeId: NodeId, count: number): void {
    this.lent.set(nodeId, (this.lent.get(nodeId) ?? 0) + count);
    this.lentTotal += count;
  }

  lendRoom(nodeId: NodeId, room: Amounts): void {
    if (isEmpty(room)) return;
    subtractAmounts(this.freeRoom, room);
    const lent = this.lentRoom.get(nodeId) ?? {};
    addAmounts(lent, room);
    this.lentRoom.set(nodeId, lent);
  }

  /** All that is free of its resources. Less than nothing is free where a worker holds more than it has: it is too much by as much. */
  get roomLeft(): Amounts {
    if (isEmpty(this.freeRoom)) return NOTHING;
    const left: Room = {};
    for (const name in this.freeRoom) if (this.freeRoom[name]! > 0) left[name] = this.freeRoom[name]!;
    return left;
  }

  hasLent(nodeId: NodeId): boolean {
    return (this.lent.get(nodeId) ?? 0) > 0 || !isEmpty(this.lentRoom.get(nodeId) ?? NOTHING);
  }

  /** Nobody but this node has any of its slots. */
  isLentOnlyTo(nodeId: NodeId): boolean {
    return this.lentTotal === (this.lent.get(nodeId) ?? 0);
  }

  /** What was just lent is lent for a while only; the number is for `endOverdue`. */
  limit(nodeId: NodeId, count: number, room: Amounts = NOTHING): number {
    this.lastLoanNo += 1;
    this.loans.push({ no: this.lastLoanNo, nodeId, left: count, room });
    return this.lastLoanNo;
  }

  /** What is left of this very loan comes back; a newer one to the same node goes on. Answers how much it was. */
  endOverdue(no: number): number {
    const loan = this.loans.find((one) => one.no === no);
    if (loan === undefined) return 0;
    const { nodeId, left, room } = loan;
    this.loans = this.loans.filter((one) => one !== loan);
    this.takeBack(nodeId, left);
    this.takeRoomBack(nodeId, room);
    return left;
  }

  /** A loan ends: claimed, returned, expired. Never more than was lent. */
  endLoan(nodeId: NodeId, count: number, room: Amounts = NOTHING): void {
    const ended = Math.min(count, this.lent.get(nodeId) ?? 0);
    const back = isEmpty(room) ? NOTHING : this.takeRoomBack(nodeId, room);
    if (ended > 0) this.takeBack(nodeId, ended);
    if (this.loans.length > 0 && (ended > 0 || back !== NOTHING)) this.settleLoans(nodeId, ended, back);
  }

  /** Never more than was lent. */
  private takeRoomBack(nodeId: NodeId, room: Amounts): Amounts {
    const lent = this.lentRoom.get(nodeId);
    if (lent === undefined || isEmpty(room)) return NOTHING;
    const back = commonAmounts(room, lent);
    subtractAmounts(lent, back);
    if (isEmpty(lent)) this.lentRoom.delete(nodeId);
    addAmounts(this.freeRoom, back);
    return back;
  }

  private takeBack(nodeId: NodeId, count: number): void {
    this.lent.set(nodeId, this.lent.get(nodeId)! - count);
    this.lentTotal -= count;
  }

  /**
   * Whatever comes back is of the newest loan. Nearly all come back within milliseconds: one that was lost on the way stays the oldest, and
   * its time ends. If it took what comes back of later ones, the newest would be left over each time, and the slot would never be free.
   */
  private settleLoans(nodeId: NodeId, count: number, room: Amounts): void {
    let rest = count;
    const roomRest: Room = { ...room };
    for (const loan of this.loans.toReversed()) {
      if (loan.nodeId !== nodeId) continue;
      const part = Math.min(rest, loan.left);
      loan.left -= part;
      rest -= part;
      if (isEmpty(roomRest) || isEmpty(loan.room)) continue;
      const roomPart = commonAmounts(loan.room, roomRest);
      const left: Room = { ...loan.room };
      subtractAmounts(left, roomPart);
      subtractAmounts(roomRest, roomPart);
      loan.room = left;
    }
    this.loans = this.loans.filter(({ left, room: of }) => left > 0 || !isEmpty(of));
  }

  endAllLoans(nodeId: NodeId): void {
    this.endLoan(nodeId, this.lent.get(nodeId) ?? 0, { ...this.lentRoom.get(nodeId) });
  }
}

/** A claim that its worker holds, with what it takes beside a slot. */
export interface HeldBooking {
  readonly claim: ClaimRef;
  readonly booking?: Booking | undefined;
}

export function claimKey({ runId, taskNo, fence }: ClaimRef): string {
  return `${runId}/${taskNo}/${fence}`;
}
