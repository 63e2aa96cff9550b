/**
 * One queue: for each priority its active lanes, the one with the oldest head first, and the workers that lend slots. Each
 * tenant has separate queues, whatever their names, so no worker gets a task of another tenant (I65).
 */
import { PRIORITIES } from '../../model/dag/spec.ts';
import type { QueueName, TenantId } from '../../model/ids.ts';
import type { Lane } from './lane.ts';
import { Offers } from './offers.ts';
import { queueKey } from './queue-key.ts';

/** Tasks of backfills have lanes after those of all priorities: see `decide/match/backfill-share.ts`. */
export const BACKFILL_LANES = PRIORITIES.length;

export class ReadyQueue {
  readonly tenantId: TenantId;
  readonly name: QueueName;
  private readonly lanes: Lane[][] = [...PRIORITIES.map(() => []), []];
  /** Claims of other tasks while one of a backfill waited, as far as they are not made up for yet. */
  claimsBeforeBackfill = 0;
  readonly offers: Offers;

  /** A lane of some dag leads here. */
  isAskedFor = false;

  constructor(tenantId: TenantId, name: QueueName) {
    this.tenantId = tenantId;
    this.name = name;
    this.offers = new Offers(queueKey(tenantId, name));
  }

  top(priority: number): Lane | undefined {
    return this.lanes[priority]![0];
  }

  activeLanes(priority: number): readonly Lane[] {
    return this.lanes[priority]!;
  }

  /** Something other than backfills waits. */
  hasLiveWork(): boolean {
    for (let priority = 0; priority < BACKFILL_LANES; priority++) if (this.lanes[priority]!.length > 0) return true;
    return false;
  }

  /** Nobody offers it, and no dag has ever asked for it. */
  isUnused(): boolean {
    return this.offers.size === 0 && !this.isAskedFor;
  }

  /** Puts the lane where its head belongs, or takes it out when it is empty or its dag may start no more. */
  update(lane: Lane): void {
    const heap = this.lanes[lane.priority]!;
    const wanted = lane.size > 0 && lane.dag.hasRoomForTask();
    if (!wanted) {
      if (lane.place >= 0) this.removeAt(heap, lane.place);
      return;
    }
    if (lane.place < 0) {
      lane.place = heap.length;
      heap.push(lane);
    }
    this.siftUp(heap, lane.place);
    this.siftDown(heap, lane.place);
  }

  private removeAt(heap: Lane[], at: number): void {
    const removed = heap[at]!;
    const last = heap.pop()!;
    removed.place = -1;
    if (last === removed) return;
    heap[at] = last;
    last.place = at;
    this.siftUp(heap, at);
    this.siftDown(heap, last.place);
  }

  private siftUp(heap: Lane[], from: number): void {
    let at = from;
    const lane = heap[at]!;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(lane, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      heap[at]!.place = at;
      at = parent;
    }
    heap[at] = lane;
    lane.place = at;
  }

  private siftDown(heap: Lane[], from: number): void {
    let at = from;
    const lane = heap[at]!;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, lane)) break;
      heap[at] = heap[child]!;
      heap[at]!.place = at;
      at = child;
    }
    heap[at] = lane;
    lane.place = at;
  }
}

/** A dag has one lane in a queue at a priority, and a run one dag: no two heads are of the same run. */
function isBefore(a: Lane, b: Lane): boolean {
  return a.headRunId() < b.headRunId();
}
