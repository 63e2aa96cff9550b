/**
 * Workers that offer the same: the same tenants and the same queues, with the same weights. What they may run next is at the top of one heap for each
 * class, so choosing costs the same however many tasks, dags and tenants wait.
 */
import type { MonoMs, QueueName, TenantId } from '../../model/ids.ts';
import type { Offer } from '../worker/worker-table.ts';
import { CLASSES } from './classes.ts';
import { Flow, SETTLE_MS } from './flow.ts';
import { Offers } from './offers.ts';
import { PlacedHeap } from './placed-heap.ts';
import { QueueTurns, type QueueWeights } from './queue-turns.ts';
import type { ReadyQueue } from './ready-queue.ts';

/** Knows which groups have something to match, and which have no worker any more. */
interface TableOfGroups {
  wake(group: OfferGroup): void;
  leave(group: OfferGroup, mono: MonoMs): void;
}

/** For whom workers of a group lend their slots. */
export interface OfferedTo {
  /** Whom its workers serve; null: every tenant. */
  readonly tenants: readonly TenantId[] | null;
  readonly queues: readonly QueueName[];
  /** In which proportion its workers take from its queues; null: dags take turns, whatever their queue. */
  readonly weights: QueueWeights | null;
  /** The key of the request that the slots are reserved for; null: they are for all. */
  readonly only: string | null;
}

export class OfferGroup implements OfferedTo {
  readonly tenants: readonly TenantId[] | null;
  readonly queues: readonly QueueName[];
  readonly weights: QueueWeights | null;
  readonly only: string | null;
  /** Several tenants share it: what they use is counted. */
  readonly isShared: boolean;
  /** Those with free slots. */
  readonly offers = new Offers();
  workers = 0;
  /** In the list of groups that have something to match. */
  isDue = false;
  private readonly flows = new Map<TenantId, readonly Flow[]>();
  private readonly waiting = CLASSES.map(() => new PlacedHeap<Flow>(isBefore));
  /** The last tag that claimed, by class: where a flow begins that finds no other. */
  private readonly lastTags: number[] = CLASSES.map(() => 0);
  /** Flows with queues for whose requests no worker here has room. */
  private readonly parking = new Set<Flow>();
  private settledAt = 0;
  private readonly table: TableOfGroups;

  constructor({ tenants, queues, weights, only }: OfferedTo, table: TableOfGroups) {
    this.tenants = tenants;
    this.queues = queues;
    this.weights = weights;
    this.only = only;
    this.isShared = tenants === null || tenants.length > 1;
    this.table = table;
  }

  serves({ tenantId, name, requestKey }: Pick<ReadyQueue, 'tenantId' | 'name' | 'requestKey'>): boolean {
    if (this.only !== null && this.only !== requestKey) return false;
    return this.queues.includes(name) && (this.tenants === null || this.tenants.includes(tenantId));
  }

  offer(offer: Offer): void {
    this.offers.add(offer);
    if (this.parking.size > 0) this.unpark(offer);
    this.table.wake(this);
  }

  /** No worker here has room for what the queue asks. It waits until a loan brings some. */
  park(flow: Flow, queue: ReadyQueue): void {
    flow.park(queue);
    this.parking.add(flow);
  }

  /** Queues of this class with tasks that found no worker. */
  *unplaced(priority: number): Iterable<ReadyQueue> {
    for (const flow of this.waiting[priority]!.all()) {
      for (const queue of flow.all()) if (queue.waitingAt(priority) > 0) yield queue;
    }
    for (const flow of this.parking) {
      if (flow.priority !== priority || flow.place >= 0) continue;
      for (const queue of flow.parkedQueues) if (queue.waitingAt(priority) > 0) yield queue;
    }
  }

  /** Room comes with loans only, so this worker alone is looked at. */
  private unpark(offer: Offer): void {
    for (const flow of this.parking) {
      for (const queue of flow.parkedQueues) if (offer.hasRoomFor(queue.request!)) flow.unpark(queue);
      if (flow.parkedQueues.size === 0) this.parking.delete(flow);
    }
  }

  /** A gang waits for this slot and more. */
  hasGangFor(offer: Offer): boolean {
    for (const flow of this.parking) {
      for (const queue of flow.parkedQueues) {
        if (queue.request?.gang === undefined || queue.waitingAt(flow.priority) === 0) continue;
        if (offer.hasRoomFor(queue.request)) return true;
      }
    }
    return false;
  }

  /** A worker has an offer here, with or without free slots. */
  join(): void {
    this.workers += 1;
  }

  withdraw(offer: Offer, mono: MonoMs): void {
    this.offers.remove(offer);
    this.workers -= 1;
    if (this.workers === 0) this.table.leave(this, mono);
  }

  /** One of its queues has tasks, now or later. */
  attach(queue: ReadyQueue, weight: number): void {
    let flows = this.flows.get(queue.tenantId);
    if (flows === undefined) {
      const turns = () => (this.weights === null ? null : new QueueTurns(this.weights));
      flows = CLASSES.map((priority) => new Flow(this, queue.tenantId, priority, weight, turns()));
      this.flows.set(queue.tenantId, flows);
    }
    for (const flow of flows) {
      queue.flows[flow.priority]!.push(flow);
      flow.add(queue);
    }
  }

  /** Its last worker has gone. */
  detach(): void {
    for (const flows of this.flows.values()) {
      for (const flow of flows) {
        for (const queue of flow.all()) {
          const known = queue.flows[flow.priority]!;
          known.splice(known.indexOf(flow), 1);
        }
      }
    }
  }

  setWeight(tenantId: TenantId, weight: number): void {
    for (const flow of this.flows.get(tenantId) ?? []) flow.weight = weight;
  }

  flowOf(tenantId: TenantId, priority: number): Flow | undefined {
    return this.flows.get(tenantId)?.[priority];
  }

  /** The flow that claims next in this class. */
  top(priority: number): Flow | undefined {
    return this.waiting[priority]!.top();
  }

  /** Flows with waiting tasks, in no order. */
  waitingAt(priority: number): readonly Flow[] {
    return this.waiting[priority]!.all();
  }

  /** After the head of a flow has changed. */
  put(flow: Flow): void {
    const waiting = this.waiting[flow.priority]!;
    if (flow.next() === undefined) return waiting.remove(flow);
    if (flow.place < 0 && this.isShared) flow.join(waiting.top()?.tag ?? this.lastTags[flow.priority]!);
    waiting.put(flow);
    this.table.wake(this);
  }

  /** A slot goes to this flow. */
  charge(flow: Flow, mono: MonoMs): void {
    this.lastTags[flow.priority] = flow.tag;
    flow.begin(mono);
    if (flow.place >= 0) this.waiting[flow.priority]!.put(flow);
  }

  settle(mono: MonoMs): void {
    if (!this.isShared || mono - this.settledAt < SETTLE_MS) return;
    this.settledAt = mono;
    for (const flows of this.flows.values()) for (const flow of flows) flow.settle(mono);
    for (const waiting of this.waiting) waiting.rebuild();
  }
}

/** The lower tag first, and of equals the older run. */
function isBefore(a: Flow, b: Flow): boolean {
  return a.tag === b.tag ? a.head < b.head : a.tag < b.tag;
}
