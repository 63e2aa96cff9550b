/**
 * Where the members of a gang run: on workers of any group that serves their queue, each on one of its own unless they may share. Of the
 * workers that have room those with the best scores; members that share fill one worker after the other, for they talk to each other.
 */
import type { Request } from '../../model/placement.ts';
import type { Lane } from '../../tables/queue/lane.ts';
import type { OfferGroup } from '../../tables/queue/offer-group.ts';
import type { ReadyQueue } from '../../tables/queue/ready-queue.ts';
import type { State } from '../../tables/state.ts';
import { taskSpecOf } from '../../tables/task/task-slots.ts';
import type { Offer, Worker } from '../../tables/worker/worker-table.ts';
import { scoreOf } from './place.ts';

export interface Seat {
  readonly group: OfferGroup;
  readonly offer: Offer;
}

/** One for each member, by rank; undefined while there are not enough. */
export function seatsFor(state: State, queue: ReadyQueue, lane: Lane): readonly Seat[] | undefined {
  const request = queue.request!;
  const { size, share } = request.gang!;
  const able: (Seat & { readonly score: number })[] = [];
  const slot = lane.headSlot();
  const { placement = {} } = taskSpecOf(state, slot);
  for (const group of state.queues.groupsServing(queue)) {
    for (const offer of group.offers.inTurn()) {
      if (!offer.hasRoomFor(request)) continue;
      able.push({ group, offer, score: scoreOf(state, offer, slot, { request, placement }) });
    }
  }
  able.sort((a, b) => a.score - b.score);
  const seats: Seat[] = [];
  const taken = new Set<Worker>();
  for (const seat of able) {
    const { worker } = seat.offer;
    if (share !== true && taken.has(worker)) continue;
    taken.add(worker);
    const count = share === true ? capacityOf(seat.offer, request) : 1;
    for (let i = 0; i < count && seats.length < size; i++) seats.push(seat);
    if (seats.length === size) return seats;
  }
  return undefined;
}

/** How many tasks that ask for this can begin there. */
function capacityOf({ free, room }: Offer, { resources }: Request): number {
  let count = free;
  for (const name in resources) count = Math.min(count, Math.floor((room[name] ?? 0) / resources[name]!));
  return count;
}
