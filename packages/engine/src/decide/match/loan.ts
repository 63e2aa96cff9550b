/** Slots on loan from gateways (D6). A loan is for one decision, unless it is a standing loan, which lasts until recalled. */
import type { GatewayLost, LendSlots, RecallSlots } from '../../model/command.ts';
import type { MonoMs, QueueName, TenantId } from '../../model/ids.ts';
import { type Amounts, addAmounts, isEmpty, NOTHING, requestKey } from '../../model/placement.ts';
import type { QueueWeights } from '../../tables/queue/queue-turns.ts';
import type { State } from '../../tables/state.ts';
import { renewLease } from '../../tables/worker/lease.ts';
import { Offer, type Worker } from '../../tables/worker/worker-table.ts';
import { clearSilence } from '../lease/end-lease.ts';
import type { Recorder } from '../recorder.ts';

/** How many offers of a worker are kept, to be used again by its next loan. */
const MOST_OFFERS = 8;

export function lendSlots(recorder: Recorder, command: LendSlots): void {
  const { state } = recorder;
  const leaseEndsAt = (state.mono - command.agoMs + state.settings.leaseMs) as MonoMs;
  const worker = state.workers.getOrAdd(command.workerId, leaseEndsAt);
  const { stream = 0 } = command;
  // The gateway numbers its streams: one that is gone lends nothing any more.
  if (worker.gateway === command.gateway && stream < worker.stream) return;
  if (worker.gateway !== command.gateway) returnToOther(recorder, worker);
  else if (worker.stream !== stream) dropLoans(worker);
  worker.gateway = command.gateway;
  worker.stream = stream;
  // A gateway lends only the slots of a worker that it hears.
  worker.heard = true;
  renewLease(worker, leaseEndsAt);
  const offer = offerOf(recorder, worker, command);
  offer.free += command.count;
  offer.standing = command.standing;
  offer.lentIn = state.batchNo;
  offer.isWhole = command.isWhole === true;
  worker.free += command.count;
  if (command.traits !== undefined) worker.traits = command.traits;
  if (command.room !== undefined) addAmounts(offer.room, command.room);
  offer.group.offer(offer);
  if (!command.standing) recorder.lent.add(offer);
  clearSilence(recorder, worker);
}

/**
 * Another gateway has the worker now, or a stream that is dead without a word makes it believe so. What the first one lent goes back
 * to it: if its stream is the living one, it lends the slots again. Otherwise they would stay lent to an engine that forgot them.
 */
function returnToOther(recorder: Recorder, worker: Worker): void {
  const { gateway, free: count } = worker;
  worker.takeBack(count);
  const room = worker.takeRoom();
  if (gateway !== null) sendReturn(recorder, worker, count, room);
}

/** Of a stream that is gone: the gateway lends all that is free from the new one, so nobody waits for these (I24). */
function dropLoans(worker: Worker): void {
  worker.takeBack(worker.free);
  worker.takeRoom();
}

function offerOf({ state }: Recorder, worker: Worker, command: LendSlots): Offer {
  const { tenants, queues, standing } = command;
  const weights = command.weights ?? null;
  const only = command.only === undefined ? null : requestKey(command.only);
  // Looked for first: a loan comes with every batch.
  const known = worker.offers.find((offer) => offer.group.only === only && isFor(offer, tenants, queues, weights));
  if (known !== undefined) return known;
  const offer = new Offer(worker, state.queues.group(tenants, queues, weights, only), queues);
  if (standing) moveStanding(worker, offer);
  else dropUsedUp(state, worker);
  worker.offers.push(offer);
  offer.group.join();
  return offer;
}

function isFor(
  { queues, group }: Offer,
  tenants: readonly TenantId[] | null,
  names: readonly QueueName[],
  weights: QueueWeights | null,
): boolean {
  return isSame(queues, names) && isSame(group.tenants, tenants) && isSameWeights(group.weights, weights, names);
}

function isSameWeights(a: QueueWeights | null, b: QueueWeights | null, names: readonly QueueName[]): boolean {
  if (a === null || b === null) return a === b;
  return names.every((name) => (a[name] ?? 1) === (b[name] ?? 1));
}

function isSame<T>(a: readonly T[] | null, b: readonly T[] | null): boolean {
  if (a === null || b === null) return a === b;
  return a.length === b.length && a.every((one, i) => one === b[i]);
}

/** Loans for one decision may be for one tenant each: those that are over are not kept for ever (I73). */
function dropUsedUp(state: State, worker: Worker): void {
  if (worker.offers.length < MOST_OFFERS) return;
  for (const offer of worker.offers.filter(({ free, room }) => free === 0 && isEmpty(room))) {
    offer.group.withdraw(offer, state.mono);
    worker.offers.splice(worker.offers.indexOf(offer), 1);
  }
}

/** A reserved slot is for one request alone, unless something of a higher class waits here by now: that goes first (I49). */
export function openReserved(recorder: Recorder): void {
  const { queues } = recorder.state;
  // Groups that are opened join the end of the list: they are looked at too, and are not reserved.
  for (const group of queues.due) {
    if (group.only === null || !queues.isOvertaken(group)) continue;
    const { tenants, queues: names, weights } = group;
    const open = queues.group(tenants, names, weights);
    for (const offer of [...group.offers.inTurn()]) {
      const to = new Offer(offer.worker, open, offer.queues);
      to.free = offer.free;
      to.isWhole = offer.isWhole;
      to.lentIn = offer.lentIn;
      offer.free = 0;
      addAmounts(to.room, offer.takeRoom());
      offer.worker.offers.push(to);
      open.join();
      open.offer(to);
      recorder.lent.add(to);
    }
  }
}

/** The worker offers something else from now on: what was lent until recalled is lent for that. */
function moveStanding(worker: Worker, to: Offer): void {
  for (const offer of worker.offers) {
    if (!offer.standing) continue;
    to.free += offer.free;
    offer.free = 0;
    addAmounts(to.room, offer.takeRoom());
  }
}

export function recallSlots(recorder: Recorder, command: RecallSlots): void {
  const { workerId, gateway, count, withRoom, stream = 0 } = command;
  const worker = recorder.state.workers.get(workerId);
  if (worker === undefined || worker.gateway !== gateway || worker.stream !== stream) return;
  giveBack(recorder, worker, Math.min(count, worker.free), withRoom === true ? worker.takeRoom() : NOTHING);
}

export function loseGateway({ state }: Recorder, { gateway }: GatewayLost): void {
  for (const worker of state.workers.all()) {
    if (worker.gateway !== gateway) continue;
    dropLoans(worker);
    worker.gateway = null;
    state.workers.forgetIfIdle(worker);
  }
}

/** After matching: what was lent for this decision only goes back, unless a gang waits for more of them. */
export function returnUnused(recorder: Recorder): void {
  const { gathering, mono } = recorder.state;
  for (const offer of recorder.lent) {
    if (offer.group.hasGangFor(offer) && gathering.keep(offer, mono)) continue;
    returnRest(recorder, offer);
  }
  for (const offer of gathering.takeOver(mono)) returnRest(recorder, offer);
}

function returnRest(recorder: Recorder, offer: Offer): void {
  const { worker, free } = offer;
  if (offer.standing || (free === 0 && isEmpty(offer.room))) return;
  offer.free = 0;
  worker.free -= free;
  tellReturned(recorder, worker, free, offer.takeRoom());
}

export function giveBack(recorder: Recorder, worker: Worker, count: number, room: Amounts = NOTHING): void {
  if ((count === 0 && isEmpty(room)) || worker.gateway === null) return;
  worker.takeBack(count);
  tellReturned(recorder, worker, count, room);
}

function tellReturned(recorder: Recorder, worker: Worker, count: number, room: Amounts): void {
  if (worker.gateway === null) return;
  sendReturn(recorder, worker, count, room);
  recorder.state.workers.forgetIfIdle(worker);
}

function sendReturn(recorder: Recorder, worker: Worker, count: number, room: Amounts): void {
  const { gateway, id: workerId, stream } = worker;
  const hasRoom = !isEmpty(room);
  if (count === 0 && !hasRoom) return;
  recorder.send({ kind: 'ReturnSlots', gateway: gateway!, workerId, count, stream, ...(hasRoom ? { room } : {}) });
}
