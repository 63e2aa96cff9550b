/**
 * One queue of one tenant: for each class its dags with active lanes, which take turns (see `turn.ts`); of one dag the lane with the
 * oldest head goes first. Each tenant has separate queues, whatever their names, so no worker gets a task of a tenant that it does not serve (I65).
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
import { isNext, type Turn, type TurnClock } from './turn.ts';

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
  private readonly turns = CLASSES.map(() => new PlacedHeap<Turn<Lane>>(isNext));
  private readonly heads: number[] = CLASSES.map(() => NO_HEAD);
  private readonly tags: number[] = CLASSES.map(() => 0);
  /** Of its tenant. */
  private readonly clock: TurnClock;
  private readonly waiting: number[] = CLASSES.map(() => 0);
  /** What its tenant may claim in each group of workers that serves it, by class. */
  readonly flows: FlowOfQueue[][] = CLASSES.map(() => []);
  /** Claims of other tasks while one of a backfill waited, as far as they are not made up for yet. */
  claimsBeforeBackfill = 0;
  /** Nothing of it begins: its tenant is suspended, or it is frozen. */
  private held = false;
  /** Lanes with tasks that could begin if limits, beside that of their dag, have room. */
  private readonly limited = new Set<Lane>();

  constructor(tenantId: TenantId, name: QueueName, clock: TurnClock, request: Request | null = null, requestKey = '') {
    this.clock = clock;
    this.tenantId = tenantId;
    this.name = name;
    this.request = request;
    this.requestKey = requestKey;
  }

  get isHeld(): boolean {
    return this.held;
  }

  top(priority: number): Lane | undefined {
    return this.turns[priority]!.top()?.lanes.top();
  }

  /** The run that goes next; the entry may be out of date. */
  headAt(priority: number): number {
    return this.held ? NO_HEAD : this.heads[priority]!;
  }

  /** The tag of the dag that claims next. */
  tagAt(priority: number): number {
    return this.tags[priority]!;
  }

  /** Dags with tasks that may begin, in no order. */
  activeTurns(priority: number): readonly Turn<Lane>[] {
    return this.turns[priority]!.all();
  }

  activeLanes(priority: number): readonly Lane[] {
    return this.turns[priority]!.all().flatMap(({ lanes }) => lanes.all());
  }

  /** Ready tasks that no limit holds back. */
  waitingAt(priority: number): number {
    return this.held ? 0 : this.waiting[priority]!;
  }

  /** Something other than backfills waits. */
  hasLiveWork(): boolean {
    for (let priority = 0; priority < BACKFILL_LANES; priority++) if (this.turns[priority]!.size > 0) return true;
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
    const { priority, turn } = lane;
    const isFull = !lane.dag.hasRoomForTask(lane.gangSize);
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
    if (isActive) turn.lanes.put(lane);
    else turn.lanes.remove(lane);
    this.place(turn, priority);
  }

  /** A task of the lane is claimed: other dags of the tenant go before its next one. */
  passTurn({ turn, priority }: Lane): void {
    this.clock[priority] = turn.tag;
    turn.tag += 1;
    this.place(turn, priority);
  }

  private place(turn: Turn<Lane>, priority: number): void {
    const turns = this.turns[priority]!;
    if (turn.lanes.size === 0) turns.remove(turn);
    else {
      if (turn.place < 0 && turn.tag < this.clock[priority]!) turn.tag = this.clock[priority]!;
      turns.put(turn);
    }
    const next = turns.top();
    const head = next?.head ?? NO_HEAD;
    const tag = next?.tag ?? 0;
    if (head === this.heads[priority] && tag === this.tags[priority]) return;
    this.heads[priority] = head;
    this.tags[priority] = tag;
    for (const flow of this.flows[priority]!) flow.update();
  }
}
