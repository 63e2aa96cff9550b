/**
 * What one tenant claims of the slots of one group of workers, in one class. Flows of a group share its slots by weight: the one
 * with the lowest *tag* claims next, and each claim raises the tag of its flow.
 *
 * A tag is the slot time that a flow has used, divided by the weight of its tenant. What an attempt will use is not known when it is
 * claimed, so a claim counts as the mean of the flow until the next settlement, which replaces all of these by the time that was used
 * until then. So a tenant with long tasks gets no more slots than one with short tasks.
 *
 * A flow without waiting tasks saves nothing up: when it comes back, it begins where the others are (start-time fair queueing).
 */
import type { MonoMs, QueueName, TenantId } from '../../model/ids.ts';
import type { QueueTurns } from './queue-turns.ts';
import { NO_HEAD, type ReadyQueue } from './ready-queue.ts';

/** The group of workers whose slots it claims: see `offer-group.ts`. */
interface GroupOfFlows {
  put(flow: Flow): void;
}

/** How often estimates are replaced by what was used. */
export const SETTLE_MS = 200;
/** Below this the mean of a flow says nothing: several claims and ends may share one step. */
const LEAST_MEAN_MS = 0.1;

export class Flow {
  private readonly group: GroupOfFlows;
  readonly tenantId: TenantId;
  readonly priority: number;
  weight: number;
  /** Place among the flows of its group with waiting tasks; -1 without any. */
  place = -1;
  /** The run that goes next, and its queue. */
  head = NO_HEAD;
  private nextByDag: ReadyQueue | undefined;
  tag = 0;
  /** Null: the next dag goes first, whatever its queue. */
  private readonly turns: QueueTurns | null;
  private readonly queues: ReadyQueue[] = [];
  /** Queues for whose request no worker of the group has room at the moment. Nearly always none. */
  private readonly parked = new Set<ReadyQueue>();
  private running = 0;
  /** Slot time since the last settlement, up to `countedAt`. */
  private usedMs = 0;
  private countedAt = 0;
  /** Claims since then, and how much each of them is taken for. */
  private claims = 0;
  private meanMs = 1;

  constructor(group: GroupOfFlows, tenantId: TenantId, priority: number, weight: number, turns: QueueTurns | null) {
    this.group = group;
    this.tenantId = tenantId;
    this.priority = priority;
    this.weight = weight;
    this.turns = turns;
  }

  add(queue: ReadyQueue): void {
    this.queues.push(queue);
    this.update();
  }

  /** The queue that claims next: by weight where the workers say so, otherwise the one whose dag is next. Undefined when none waits. */
  next(): ReadyQueue | undefined {
    return this.turns === null || this.queues.length === 1 ? this.nextByDag : this.nextInTurn(this.turns);
  }

  /** Of those with the same name, which differ in what they ask for, the one whose dag is next. */
  private nextInTurn(turns: QueueTurns): ReadyQueue | undefined {
    let best: ReadyQueue | undefined;
    let [bestTurn, bestTag, bestHead] = [NO_HEAD, NO_HEAD, NO_HEAD];
    for (const queue of this.queues) {
      const head = queue.headAt(this.priority);
      if (head === NO_HEAD || this.parked.has(queue)) continue;
      const [turn, tag] = [turns.tagOf(queue.name), queue.tagAt(this.priority)];
      if ((turn - bestTurn || tag - bestTag || head - bestHead) >= 0 && best !== undefined) continue;
      [best, bestTurn, bestTag, bestHead] = [queue, turn, tag, head];
    }
    return best;
  }

  /** A task of this queue was claimed. */
  take(name: QueueName): void {
    this.turns?.take(name);
  }

  all(): readonly ReadyQueue[] {
    return this.queues;
  }

  /** After a head of one of its queues has changed. */
  update(): void {
    const { queues, priority } = this;
    let [head, tag] = [NO_HEAD, NO_HEAD];
    let next: ReadyQueue | undefined;
    for (const queue of queues) {
      const of = queue.headAt(priority);
      if (of === NO_HEAD || this.parked.has(queue)) continue;
      const ofTag = queue.tagAt(priority);
      if (ofTag > tag || (ofTag === tag && of >= head)) continue;
      [head, tag, next] = [of, ofTag, queue];
    }
    if (head === this.head && next === this.nextByDag) return;
    this.head = head;
    this.nextByDag = next;
    this.group.put(this);
  }

  /** No worker of the group has room for what this queue asks: it is not looked at until one has. */
  park(queue: ReadyQueue): void {
    this.parked.add(queue);
    this.update();
  }

  get parkedQueues(): ReadonlySet<ReadyQueue> {
    return this.parked;
  }

  unpark(queue: ReadyQueue): void {
    if (this.parked.delete(queue)) this.update();
  }

  /** It has waiting tasks again, and the others are here. */
  join(tag: number): void {
    if (tag > this.tag) this.tag = tag;
  }

  begin(mono: MonoMs): void {
    this.count(mono);
    this.running += 1;
    this.claims += 1;
    this.tag += this.meanMs / this.weight;
  }

  end(mono: MonoMs): void {
    this.count(mono);
    this.running -= 1;
  }

  settle(mono: MonoMs): void {
    this.count(mono);
    const estimateMs = this.claims * this.meanMs;
    this.tag += (this.usedMs - estimateMs) / this.weight;
    if (this.claims > 0) {
      const meanMs = (this.meanMs + this.usedMs / this.claims) / 2;
      this.meanMs = Math.min(Math.max(meanMs, LEAST_MEAN_MS), SETTLE_MS);
    }
    this.usedMs = 0;
    this.claims = 0;
  }

  private count(mono: MonoMs): void {
    if (this.running > 0) this.usedMs += this.running * (mono - this.countedAt);
    this.countedAt = mono;
  }
}
