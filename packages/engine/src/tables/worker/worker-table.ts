/**
 * The workers that the engine knows: those that lend slots and those that run attempts. Nothing of it is stored (D5), except
 * the silence of a worker at takeover.
 */

import type { MonoMs, NodeId, QueueName, ShardNo, TenantId, WorkerId } from '../../model/ids.ts';
import {
  type Amounts,
  addAmounts,
  hasAmounts,
  isEmpty,
  misfitOf,
  NO_TRAITS,
  NOTHING,
  type Request,
  type Room,
  type WorkerTraits,
} from '../../model/placement.ts';
import { NO_ATTEMPT } from '../attempt/attempt-table.ts';
import type { QueueWeights } from '../queue/queue-turns.ts';

/** The workers that offer the same: see `queue/offer-group.ts`. */
interface GroupOfOffers {
  readonly tenants: readonly TenantId[] | null;
  readonly weights: QueueWeights | null;
  readonly only: string | null;
  join(): void;
  offer(offer: Offer): void;
  withdraw(offer: Offer, mono: MonoMs): void;
  hasGangFor(offer: Offer): boolean;
}

/** Slots of one worker on loan, for tasks of the tenants and queues of a group. */
export class Offer {
  readonly worker: Worker;
  readonly group: GroupOfOffers;
  /** As the worker names them: compared with every loan. */
  readonly queues: readonly QueueName[];
  /** Not used yet. */
  free = 0;
  /** What came with these slots of the worker's resources, and is not used yet. */
  room: Room = {};
  /** When the gateway lent last, the worker had nothing to do and all its slots were here. */
  isWhole = false;
  /** The loan lasts until recalled. Otherwise it ends with the decision it was made for. */
  standing = false;
  /** The batch of the newest loan. */
  lentIn = -1;
  /** Place among the offers of its group; -1 when it is not there. */
  place = -1;

  constructor(worker: Worker, group: GroupOfOffers, queues: readonly QueueName[]) {
    this.worker = worker;
    this.group = group;
    this.queues = queues;
  }

  /** Whether a task with this request can begin here. */
  hasRoomFor(request: Request): boolean {
    const { worker, free, room } = this;
    const { traits } = worker;
    if (free <= 0 || misfitOf(request, traits) !== null) return false;
    // What other nodes run there the gateway knows; what this one has just claimed, it does not know yet.
    if (request.exclusive && (!this.isWhole || worker.running > 0 || free < traits.slots)) return false;
    return hasAmounts(room, request.resources);
  }

  takeRoom(): Amounts {
    const { room } = this;
    if (isEmpty(room)) return NOTHING;
    this.room = {};
    return room;
  }
}

export class Worker {
  readonly no: number;
  readonly id: WorkerId;
  /** The gateway it was last heard through; null until it is heard. */
  gateway: NodeId | null = null;
  /** The stream that its slots were lent from last. */
  stream = 0;
  /** What it is and has in all. */
  traits: WorkerTraits = NO_TRAITS;
  /** Its slots on loan, by whom and what they may be used for. */
  readonly offers: Offer[] = [];
  /** Slots on loan from its gateway and not used yet, in all its offers. */
  free = 0;
  /** When its leases end, unless it is heard again. */
  leaseEndsAt: MonoMs;
  /** The timer in the heap that watches the lease; null when none does. */
  watchedAt: MonoMs | null = null;
  heard = false;
  /** When the newest heartbeat so far was heard. */
  heardAt = Number.NEGATIVE_INFINITY as MonoMs;
  /** Since when it owes a sign of claims that were sent to it; null when it owes none. */
  owesSince: MonoMs | null = null;
  /** Since when a set of it lacked something that it had shown. */
  missesSince: MonoMs | null = null;
  /** It was told to stop, and finishes what it has: it may be killed before that is done. */
  isDraining = false;
  /** It said that it goes; what is left of its attempts is being given up. */
  hasLeft = false;
  /** Shards for which its silence is stored. */
  readonly silencedIn = new Set<ShardNo>();
  /** First of its running attempts in the attempt table. */
  firstAttempt = NO_ATTEMPT;
  running = 0;

  constructor(no: number, id: WorkerId, leaseEndsAt: MonoMs) {
    this.no = no;
    this.id = id;
    this.leaseEndsAt = leaseEndsAt;
  }

  /** So many of its free slots are on loan no more. */
  takeBack(count: number): void {
    this.free -= count;
    let rest = count;
    for (const offer of this.offers) {
      const part = Math.min(rest, offer.free);
      offer.free -= part;
      rest -= part;
    }
  }

  /** All of its resources that are on loan and not used. */
  takeRoom(): Amounts {
    const all: Room = {};
    for (const offer of this.offers) addAmounts(all, offer.takeRoom());
    return isEmpty(all) ? NOTHING : all;
  }

  hasRoom(): boolean {
    for (const { room } of this.offers) if (!isEmpty(room)) return true;
    return false;
  }
}

export class WorkerTable {
  private readonly byId = new Map<WorkerId, Worker>();
  private readonly byNo: (Worker | undefined)[] = [];
  private readonly freeNos: number[] = [];
  private readonly onForget: (worker: Worker) => void;

  constructor(onForget: (worker: Worker) => void) {
    this.onForget = onForget;
  }

  get(id: WorkerId): Worker | undefined {
    return this.byId.get(id);
  }

  at(no: number): Worker | undefined {
    return this.byNo[no];
  }

  getOrAdd(id: WorkerId, leaseEndsAt: MonoMs): Worker {
    const known = this.byId.get(id);
    if (known !== undefined) return known;
    const no = this.freeNos.pop() ?? this.byNo.length;
    const worker = new Worker(no, id, leaseEndsAt);
    this.byNo[no] = worker;
    this.byId.set(id, worker);
    return worker;
  }

  /** Forgets a worker that runs nothing and lends nothing (I73). */
  forgetIfIdle(worker: Worker): void {
    if (worker.running > 0 || worker.free > 0 || worker.silencedIn.size > 0 || worker.hasRoom()) return;
    if (this.byId.get(worker.id) !== worker) return;
    this.byId.delete(worker.id);
    this.byNo[worker.no] = undefined;
    this.freeNos.push(worker.no);
    this.onForget(worker);
  }

  all(): IterableIterator<Worker> {
    return this.byId.values();
  }
}
