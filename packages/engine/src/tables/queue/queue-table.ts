/** All ready queues, the groups of workers that offer slots, and which group serves which queue. */
import type { MonoMs, QueueName, TenantId } from '../../model/ids.ts';
import { needsRoom, type Request, requestKey } from '../../model/placement.ts';
import { CLASSES } from './classes.ts';
import { type OfferedTo, OfferGroup } from './offer-group.ts';
import { type QueueKey, queueKey } from './queue-key.ts';
import type { QueueWeights } from './queue-turns.ts';
import { ReadyQueue } from './ready-queue.ts';
import type { TurnClock } from './turn.ts';

/** Groups without a worker are kept for a while: a loan for one decision comes and goes with every batch. */
const KEPT_MS = 10_000;
const MOST_KEPT = 100;

/** What the queues must know of tenants. */
interface TenantRules {
  weightOf(id: TenantId): number;
  /** Nothing of the queue begins: its tenant is suspended, or something is frozen. */
  isHeld(id: TenantId, name: QueueName): boolean;
}

export class QueueTable {
  private readonly byKey = new Map<QueueKey, ReadyQueue>();
  /** Where the turns of dags are, by tenant. */
  private readonly clocks = new Map<TenantId, TurnClock>();
  /** Those whose tasks ask for a share of a worker, or for all of it. */
  readonly placed = new Set<ReadyQueue>();
  private readonly groups = new Map<string, OfferGroup>();
  /** Groups whose last worker has gone, and when; the oldest first. */
  private readonly left = new Map<OfferGroup, MonoMs>();
  private readonly tenants: TenantRules;
  /** Groups that got slots or tasks since they were matched last. */
  due: OfferGroup[] = [];

  constructor(tenants: TenantRules) {
    this.tenants = tenants;
  }

  get size(): number {
    return this.byKey.size;
  }

  get groupCount(): number {
    return this.groups.size;
  }

  /** All queues of this name: one for each request. */
  named(tenantId: TenantId, name: QueueName): ReadyQueue[] {
    const found: ReadyQueue[] = [];
    for (const queue of this.byKey.values()) if (queue.tenantId === tenantId && queue.name === name) found.push(queue);
    return found;
  }

  values(): IterableIterator<ReadyQueue> {
    return this.byKey.values();
  }

  getOrAdd(tenantId: TenantId, name: QueueName, request: Request | null = null): ReadyQueue {
    const asked = request === null ? '' : requestKey(request);
    const key = queueKey(tenantId, name, asked);
    const known = this.byKey.get(key);
    if (known !== undefined) return known;
    const clock = this.clocks.get(tenantId) ?? CLASSES.map(() => 0);
    this.clocks.set(tenantId, clock);
    const queue = new ReadyQueue(tenantId, name, clock, request, asked);
    if (request !== null && needsRoom(request)) this.placed.add(queue);
    queue.setHeld(this.tenants.isHeld(tenantId, name));
    this.byKey.set(key, queue);
    for (const group of this.groups.values()) this.connect(group, queue);
    return queue;
  }

  group(
    tenants: readonly TenantId[] | null,
    queues: readonly QueueName[],
    weights: QueueWeights | null = null,
    only: string | null = null,
  ): OfferGroup {
    const key = groupKey({ tenants, queues, weights, only });
    const known = this.groups.get(key);
    if (known !== undefined) {
      this.left.delete(known);
      return known;
    }
    const group = new OfferGroup({ tenants, queues, weights, only }, this);
    this.groups.set(key, group);
    for (const queue of this.byKey.values()) this.connect(group, queue);
    return group;
  }

  /** The group has something to match, perhaps. */
  wake(group: OfferGroup): void {
    if (group.isDue) return;
    group.isDue = true;
    this.due.push(group);
  }

  /** All groups that were due have been matched as far as it goes. */
  clearDue(): void {
    for (const group of this.due) group.isDue = false;
    this.due = [];
  }

  /** The last worker of this group has gone. */
  leave(group: OfferGroup, mono: MonoMs): void {
    this.left.set(group, mono);
  }

  /** Without those whose slots are reserved. */
  groupsFor(tenantId: TenantId, name: QueueName): OfferGroup[] {
    const isFor = (group: OfferGroup) => group.only === null && group.serves({ tenantId, name, requestKey: '' });
    return [...this.groups.values()].filter(isFor);
  }

  /** All that may give slots to this queue, those with reserved slots included. */
  groupsServing(queue: ReadyQueue): OfferGroup[] {
    return [...this.groups.values()].filter((group) => group.serves(queue));
  }

  /** Something waits for slots of these workers that is of a higher class than what they are reserved for. */
  isOvertaken({ tenants, queues, only }: OfferGroup): boolean {
    let [own, other] = [CLASSES.length, CLASSES.length];
    for (const queue of this.byKey.values()) {
      if (!queues.includes(queue.name) || tenants?.includes(queue.tenantId) === false) continue;
      const highest = CLASSES.findIndex((_, priority) => queue.waitingAt(priority) > 0);
      if (highest < 0) continue;
      if (queue.requestKey === only) own = Math.min(own, highest);
      else if (queue.request === null) other = Math.min(other, highest);
    }
    return other < own;
  }

  /** Forgets groups that have had no worker for a while (I73). */
  trim(mono: MonoMs): void {
    for (const [group, since] of this.left) {
      if (this.left.size <= MOST_KEPT && mono - since < KEPT_MS) return;
      this.left.delete(group);
      if (group.workers > 0) continue;
      group.detach();
      this.groups.delete(groupKey(group));
    }
  }

  /** After what is known of a tenant has changed. */
  setTenant(tenantId: TenantId): void {
    const weight = this.tenants.weightOf(tenantId);
    for (const group of this.groups.values()) group.setWeight(tenantId, weight);
    this.setHeld();
  }

  /** After it has changed whose queues are held. */
  setHeld(): void {
    for (const queue of this.byKey.values()) queue.setHeld(this.tenants.isHeld(queue.tenantId, queue.name));
  }

  private connect(group: OfferGroup, queue: ReadyQueue): void {
    if (group.serves(queue)) group.attach(queue, this.tenants.weightOf(queue.tenantId));
  }
}

function groupKey({ tenants, queues, weights, only }: OfferedTo): string {
  const served = tenants === null ? null : [...tenants].sort((a, b) => a - b);
  const names = [...queues].sort();
  const weighed = weights === null ? null : names.map((name) => weights[name] ?? 1);
  return JSON.stringify([served, names, weighed, only]);
}
