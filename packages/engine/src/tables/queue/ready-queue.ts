/**
 * One queue of one tenant: for each class its active lanes, the one with the oldest head first. Each tenant has separate queues,
 * whatever their names, so no worker gets a task of a tenant that it does not serve (I65).
 *
 * The groups of workers that serve the queue are told when a head changes; see `offer-group.ts`.
 *
 * Tasks that ask for more than a slot wait in queues of their own, one for each *request*: what one of them waits for holds back
 * nobody who asks for something else (I47), and whether a worker has room is asked once for all of them.
 */
import type { QueueName, TenantId } from '../../model/ids.ts';
import type { Request } from '../../model/placement.ts';
import { BACKFILL_LANES, CLASSES } from './classes.ts';
import type { Lane } from './lane.ts';
import { PlacedHeap } from './placed-heap.ts';

/** What a tenant may claim in a group of workers: see `flow.ts`. */
interface FlowOfQueue {
  update(): void;
}

/** In place of the oldest run, where none waits. */
export const NO_HEAD = Number.POSITIVE_INFINITY;

export class ReadyQueue {
  readonly tenantId: TenantId;
  readonly name: QueueName;
  /** What each of its tasks asks of a worker; null: nothing but a slot. */
  readonly request: Request | null;
  /** The same for those that ask for the same; empty without a request. */
  readonly requestKey: string;
  private readonly lanes = CLASSES.map(() => new PlacedHeap<Lane>(isBefore));
  private readonly heads: number[] = CLASSES.map(() => NO_HEAD);
  private readonly waiting: number[] = CLASSES.map(() => 0);
  /** What its tenant may claim in each group of workers that serves it, by class. */
  readonly flows: FlowOfQueue[][] = CLASSES.map(() => []);
  /** Claims of other tasks while one of a backfill waited, as far as they are not made up for yet. */
  claimsBeforeBackfill = 0;
  /** Nothing of it begins: its tenant is suspended, or it is frozen. */
  private held = false;
  /** Lanes with tasks that could begin if limits, beside that of their dag, have room. */
  private readonly limited = new Set<Lane>();

  constructor(tenantId: TenantId, name: QueueName, request: Request | null = null, requestKey = '') {
    this.tenantId = tenantId;
    this.name = name;
    this.request = request;
    this.requestKey = requestKey;
  }

  get isHeld(): boolean {
    return this.held;
  }

  top(priority: number): Lane | undefined {
    return this.lanes[priority]!.top();
  }

  /** The oldest run with a task that may begin; the entry may be out of date. */
  headAt(priority: number): number {
    return this.held ? NO_HEAD : this.heads[priority]!;
  }

  activeLanes(priority: number): readonly Lane[] {
    return this.lanes[priority]!.all();
  }

  /** Ready tasks that no limit holds back. */
  waitingAt(priority: number): number {
    return this.held ? 0 : this.waiting[priority]!;
  }

  /** Something other than backfills waits. */
  hasLiveWork(): boolean {
    for (let priority = 0; priority < BACKFILL_LANES; priority++) if (this.lanes[priority]!.size > 0) return true;
    return false;
  }

  setHeld(held: boolean): void {
    if (this.held === held) return;
    this.held = held;
    // Other tasks can use slots that a held queue does not ask for (I47).
    for (const lane of this.limited) this.update(lane);
    for (const flows of this.flows) for (const flow of flows) flow.update();
  }

  /** Puts the lane where its head belongs, or takes it out when it is empty or its dag may start no more. */
  update(lane: Lane): void {
    const { priority } = lane;
    const lanes = this.lanes[priority]!;
    const isFull = !lane.dag.hasRoomForTask();
    let isActive = lane.size > 0 && !isFull;
    if (lane.holds.length > 0) {
      const isLimited = isActive || (lane.slow > 0 && !isFull);
      if (isLimited) this.limited.add(lane);
      else this.limited.delete(lane);
      lane.want(isLimited && !this.held ? lane.ready + lane.slow : 0);
      isActive &&= lane.hasRoom();
    }
    const waiting = isActive ? lane.ready : 0;
    this.waiting[priority]! += waiting - lane.counted;
    lane.counted = waiting;
    if (isActive) lanes.put(lane);
    else lanes.remove(lane);
    const head = lanes.top()?.headRunId() ?? NO_HEAD;
    if (head === this.heads[priority]) return;
    this.heads[priority] = head;
    for (const flow of this.flows[priority]!) flow.update();
  }
}

/** A dag has one lane in a queue at a priority, and a run one dag: no two heads are of the same run. */
function isBefore(a: Lane, b: Lane): boolean {
  return a.headRunId() < b.headRunId();
}
