/** The stream of one worker at its gateway: its free slots, what it holds, and which nodes its slots are lent to. */
import {
  type ClaimRef,
  type Epoch,
  type NodeId,
  type QueueName,
  type RunId,
  type ShardNo,
  type TenantId,
  type WorkerId,
} from '@signalbox/engine';
import type { ProgressSeen } from '../peer/message.ts';
import type { ClaimProgress, WorkerDoor, WorkerHello } from '../ports.ts';

/** A claim that its worker holds, with how long before its heartbeat the attempt told of progress, if it ever did. */
export type HeldClaim = ClaimRef & { readonly progressAgoMs?: number };

export class Session {
  readonly workerId: WorkerId;
  readonly tenantId: TenantId;
  /** Whom it serves; null: every tenant. */
  readonly tenants: readonly TenantId[] | null;
  readonly name: string;
  readonly queues: readonly QueueName[];
  readonly slots: number;
  /** How many more claims it takes than it has slots. */
  ahead = 0;
  readonly door: WorkerDoor;
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
  private loans: { readonly no: number; readonly nodeId: NodeId; left: number }[] = [];
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
  private lentTotal = 0;

  constructor(hello: Omit<WorkerHello, 'holds'>, held: readonly ClaimRef[], door: WorkerDoor, mono: number) {
    this.workerId = hello.workerId;
    this.tenantId = hello.tenantId;
    this.tenants = hello.tenants;
    this.name = hello.name;
    this.queues = hello.queues;
    this.slots = hello.slots;
    this.isDraining = hello.draining;
    this.version = hello.version;
    this.door = door;
    this.heardAt = mono;
    this.shown = { at: mono, holds: held };
    for (const claim of held) this.held.set(claimKey(claim), claim);
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
    return this.isDraining || this.isCordoned || this.isGone
      ? 0
      : this.slots + this.ahead - this.held.size - this.lentTotal;
  }

  /** The claim fills no slot any more. */
  release(key: string): void {
    this.held.delete(key);
    this.absent.delete(key);
  }

  lend(nodeId: NodeId, count: number): void {
    this.lent.set(nodeId, (this.lent.get(nodeId) ?? 0) + count);
    this.lentTotal += count;
  }

  /** What was just lent is lent for a while only; the number is for `endOverdue`. */
  limit(nodeId: NodeId, count: number): number {
    this.lastLoanNo += 1;
    this.loans.push({ no: this.lastLoanNo, nodeId, left: count });
    return this.lastLoanNo;
  }

  /** What is left of this very loan comes back; a newer one to the same node goes on. Answers how much it was. */
  endOverdue(no: number): number {
    const loan = this.loans.find((one) => one.no === no);
    if (loan === undefined) return 0;
    const { nodeId, left } = loan;
    this.loans = this.loans.filter((one) => one !== loan);
    this.takeBack(nodeId, left);
    return left;
  }

  /** A loan ends: claimed, returned, expired. Never more than was lent. */
  endLoan(nodeId: NodeId, count: number): void {
    const ended = Math.min(count, this.lent.get(nodeId) ?? 0);
    if (ended === 0) return;
    this.takeBack(nodeId, ended);
    if (this.loans.length > 0) this.settleLoans(nodeId, ended);
  }

  private takeBack(nodeId: NodeId, count: number): void {
    this.lent.set(nodeId, this.lent.get(nodeId)! - count);
    this.lentTotal -= count;
  }

  /** Whatever comes back is of the oldest loan. */
  private settleLoans(nodeId: NodeId, count: number): void {
    let rest = count;
    for (const loan of this.loans) {
      if (loan.nodeId !== nodeId || rest === 0) continue;
      const part = Math.min(rest, loan.left);
      loan.left -= part;
      rest -= part;
    }
    this.loans = this.loans.filter(({ left }) => left > 0);
  }

  endAllLoans(nodeId: NodeId): void {
    this.endLoan(nodeId, this.lent.get(nodeId) ?? 0);
  }
}

export function claimKey({ runId, taskNo, fence }: ClaimRef): string {
  return `${runId}/${taskNo}/${fence}`;
}
