/**
 * Matches slots with tasks. Classes are strict: a higher priority claims first, backfills come last but for their share. Within a
 * class the tenants that share a group of workers take turns by weight; of one tenant its dags take turns, or first the queues where
 * workers give them weights, and of a dag the oldest run goes first.
 *
 * Only groups that got slots or tasks since the last match are looked at, and in a group only the top of a heap: choosing costs
 * the same however many tasks, dags and tenants wait. Tasks that ask for resources or labels wait in a queue for each request; one
 * that no worker of a group has room for is set aside in that group until a loan brings room.
 */
import { PRIORITIES } from '../../model/dag/spec.ts';
import { BACKFILL_LANES } from '../../tables/queue/classes.ts';
import { isReadyIn } from '../../tables/queue/enqueue.ts';
import type { Lane } from '../../tables/queue/lane.ts';
import type { OfferGroup } from '../../tables/queue/offer-group.ts';
import type { ReadyQueue } from '../../tables/queue/ready-queue.ts';
import { membersOf } from '../../tables/task/gang.ts';
import type { Offer } from '../../tables/worker/worker-table.ts';
import { holdReady } from '../breaker/pass.ts';
import type { Recorder } from '../recorder.ts';
import { matchSpeculative } from '../speculative/match-speculative.ts';
import { countClaim, isBackfillsTurn, takeTurn } from './backfill-share.ts';
import { claimSlot } from './claim-slot.ts';
import { openReserved } from './loan.ts';
import { placeFor } from './place.ts';
import { preempt } from './preempt.ts';
import { type Seat, seatsFor } from './seats.ts';
import { decisionInGang, decisionOn } from './tell-decision.ts';

/** Claims while slots and ready tasks meet. Answers false when the step was full before that. */
export function matchSlots(recorder: Recorder): boolean {
  const { queues, mono, longWaits, settings } = recorder.state;
  openReserved(recorder);
  for (const group of queues.due) group.settle(mono);
  const hasMatchedAll = matchDue(recorder);
  if (!hasMatchedAll) return false;
  const starved = preempt(recorder, queues.due);
  queues.clearDue();
  if (queues.placed.size > 0) longWaits.look(queues.placed, settings.reserveAfterMs, mono);
  // Looked at again in each step while critical tasks find no worker: more of them may come, and the minute may be over.
  for (const group of starved) queues.wake(group);
  return true;
}

function matchDue(recorder: Recorder): boolean {
  const { queues, runs, speculation } = recorder.state;
  const hasBackfills = runs.windows.size > 0 && queues.due.some((group) => group.waitingAt(BACKFILL_LANES).length > 0);
  if (hasBackfills && !matchShare(recorder)) return false;
  for (let priority = 0; priority < PRIORITIES.length; priority++) {
    if (speculation.wanted.size > 0 && !matchSpeculative(recorder, priority)) return false;
    if (!matchClass(recorder, priority, hasBackfills)) return false;
  }
  return !hasBackfills || matchClass(recorder, BACKFILL_LANES);
}

/** What backfills get before the others: only where others wait, for the rest is theirs anyway. */
function matchShare(recorder: Recorder): boolean {
  for (const group of recorder.state.queues.due) {
    const waiting = group.waitingAt(BACKFILL_LANES).flatMap((flow) => flow.all());
    for (const queue of waiting) {
      while (group.offers.peek() !== undefined && queue.hasLiveWork() && !queue.isHeld) {
        const lane = freshTop(recorder, queue, BACKFILL_LANES);
        if (lane === undefined || !isBackfillsTurn(recorder, queue, lane)) break;
        if (lane.gangSize > 1) {
          const seats = seatsFor(recorder.state, queue, lane);
          if (seats === undefined) break;
          if (recorder.isFull()) return false;
          takeTurn(recorder, queue, lane);
          claimGang(recorder, { queue, lane, seats });
          continue;
        }
        const offer = offerFor(recorder, group, queue, lane);
        if (offer === undefined) break;
        if (recorder.isFull()) return false;
        takeTurn(recorder, queue, lane);
        claimHead(recorder, { group, queue, lane, offer });
      }
    }
  }
  return true;
}

interface Claim {
  readonly group: OfferGroup;
  readonly queue: ReadyQueue;
  /** Its head is claimed. */
  readonly lane: Lane;
  readonly offer: Offer;
}

function claimHead(recorder: Recorder, { group, queue, lane, offer }: Claim): void {
  const { longWaits, mono } = recorder.state;
  const { request } = queue;
  const decision = decisionOn(recorder.state, { group, lane, offer });
  if (group.weights !== null) group.flowOf(queue.tenantId, lane.priority)?.take(queue.name);
  queue.passTurn(lane);
  if (request !== null) longWaits.claimed(queue, lane.priority, mono);
  claimSlot(recorder, { group, offer, slot: lane.headSlot(), request, decision });
  dropStaleHeads(recorder, lane);
}

interface GangClaim {
  readonly queue: ReadyQueue;
  /** Its head is the first member of the gang. */
  readonly lane: Lane;
  /** One for each member, by rank. */
  readonly seats: readonly Seat[];
}

/** All members of the gang, in this step and so in one commit. */
function claimGang(recorder: Recorder, { queue, lane, seats }: GangClaim): void {
  const { state } = recorder;
  const { longWaits, mono } = state;
  const { priority } = lane;
  const members = membersOf(state, lane.headSlot())!;
  const hosts = seats.map(({ offer }) => offer.worker.traits.host ?? '');
  queue.passTurn(lane);
  longWaits.claimed(queue, priority, mono);
  members.forEach((slot, rank) => {
    const { group, offer } = seats[rank]!;
    if (group.weights !== null) group.flowOf(queue.tenantId, priority)?.take(queue.name);
    const decision = decisionInGang(state, { group, lane, offer });
    claimSlot(recorder, { group, offer, slot, request: queue.request, gang: { rank, hosts }, decision });
  });
  dropStaleHeads(recorder, lane);
}

/** Where the head of the lane runs; undefined when no worker of the group has room for it. */
function offerFor({ state }: Recorder, group: OfferGroup, { request }: ReadyQueue, lane: Lane): Offer | undefined {
  if (request === null) return group.offers.peek();
  return placeFor(state, group.offers, request, lane, state.decisions.considering(state.mono));
}

function matchClass(recorder: Recorder, priority: number, isBeforeBackfills = false): boolean {
  const { due } = recorder.state.queues;
  for (let i = 0; i < due.length; i++) {
    const group = due[i]!;
    for (;;) {
      const queue = nextQueue(recorder, group, priority);
      if (queue === undefined) break;
      const lane = queue.top(priority)!;
      if (lane.gangSize > 1) {
        const seats = seatsFor(recorder.state, queue, lane);
        if (seats === undefined) {
          group.park(group.top(priority)!, queue);
          continue;
        }
        if (recorder.isFull()) return false;
        claimGang(recorder, { queue, lane, seats });
        if (isBeforeBackfills) countClaim(queue);
        continue;
      }
      const offer = offerFor(recorder, group, queue, lane);
      if (offer === undefined) {
        group.park(group.top(priority)!, queue);
        continue;
      }
      if (recorder.isFull()) return false;
      claimHead(recorder, { group, queue, lane, offer });
      if (isBeforeBackfills) countClaim(queue);
    }
  }
  return true;
}

/** The queue whose head the group claims next; undefined when it has no slot, or nothing of this class. */
function nextQueue(recorder: Recorder, group: OfferGroup, priority: number): ReadyQueue | undefined {
  if (group.offers.peek() === undefined) return undefined;
  for (;;) {
    const queue = group.top(priority)?.next();
    if (queue === undefined) return undefined;
    // Entries that are out of date may have hidden that another flow or queue is first.
    const lane = queue.top(priority)!;
    if (isFresh(recorder, lane)) return queue;
    dropStaleHeads(recorder, lane);
  }
}

function freshTop(recorder: Recorder, queue: ReadyQueue, priority: number): Lane | undefined {
  for (let lane = queue.top(priority); lane !== undefined; lane = queue.top(priority)) {
    if (isFresh(recorder, lane)) return lane;
    dropStaleHeads(recorder, lane);
  }
  return undefined;
}

function isFresh(recorder: Recorder, lane: Lane): boolean {
  return isReadyIn(recorder.state, lane, lane.headRunId(), lane.headSlot()) && !holdReady(recorder, lane.headSlot());
}

function dropStaleHeads(recorder: Recorder, lane: Lane): void {
  while (lane.size > 0 && !isReadyIn(recorder.state, lane, lane.headRunId(), lane.headSlot())) lane.pop();
  lane.queue.update(lane);
}
