/** Slots on loan from gateways (D6). A loan is for one decision, unless it is a standing loan, which lasts until recalled. */
import type { GatewayLost, LendSlots, RecallSlots } from '../../model/command.ts';
import type { MonoMs } from '../../model/ids.ts';
import { queueKey } from '../../tables/queue/queue-key.ts';
import { renewLease } from '../../tables/worker/lease.ts';
import type { Worker } from '../../tables/worker/worker-table.ts';
import { clearSilence } from '../lease/end-lease.ts';
import type { Recorder } from '../recorder.ts';

export function lendSlots(recorder: Recorder, command: LendSlots): void {
  const { state } = recorder;
  const leaseEndsAt = (state.mono - command.agoMs + state.settings.leaseMs) as MonoMs;
  const worker = state.workers.getOrAdd(command.workerId, leaseEndsAt);
  if (worker.gateway !== command.gateway) returnToOther(recorder, worker);
  worker.gateway = command.gateway;
  // A gateway lends only the slots of a worker that it hears.
  worker.heard = true;
  renewLease(worker, leaseEndsAt);
  offerTo(recorder, worker, command);
  worker.free += command.count;
  worker.standing = command.standing;
  if (!command.standing) recorder.lent.add(worker);
  clearSilence(recorder, worker);
}

/**
 * Another gateway has the worker now, or a stream that is dead without a word makes it believe so. What the first one lent goes back
 * to it: if its stream is the living one, it lends the slots again. Otherwise they would stay lent to an engine that forgot them.
 */
function returnToOther(recorder: Recorder, worker: Worker): void {
  const { gateway, id: workerId, free: count } = worker;
  if (gateway !== null && count > 0) recorder.send({ kind: 'ReturnSlots', gateway, workerId, count });
  worker.free = 0;
}

function offerTo({ state }: Recorder, worker: Worker, { tenantId, queues }: LendSlots): void {
  const isSame = worker.queues.length === queues.length && worker.queues.every((name, i) => name === queues[i]);
  if (!isSame || worker.tenantId !== tenantId) {
    state.withdrawOffers(worker);
    worker.tenantId = tenantId;
    worker.queues = queues;
    // Made once: a loan comes with every batch.
    worker.queueKeys = queues.map((name) => queueKey(tenantId, name));
  }
  queues.forEach((name, i) => state.queue(tenantId, name, worker.queueKeys[i]).offers.add(worker));
}

export function recallSlots(recorder: Recorder, { workerId, gateway, count }: RecallSlots): void {
  const worker = recorder.state.workers.get(workerId);
  if (worker === undefined || worker.gateway !== gateway) return;
  giveBack(recorder, worker, Math.min(count, worker.free));
}

export function loseGateway({ state }: Recorder, { gateway }: GatewayLost): void {
  for (const worker of state.workers.all()) {
    if (worker.gateway !== gateway) continue;
    worker.free = 0;
    worker.gateway = null;
    state.workers.forgetIfIdle(worker);
  }
}

/** After matching: what was lent for this decision only goes back. */
export function returnUnused(recorder: Recorder): void {
  for (const worker of recorder.lent) {
    if (worker.free > 0 && !worker.standing) giveBack(recorder, worker, worker.free);
  }
}

export function giveBack(recorder: Recorder, worker: Worker, count: number): void {
  if (count === 0 || worker.gateway === null) return;
  worker.free -= count;
  recorder.send({ kind: 'ReturnSlots', gateway: worker.gateway, workerId: worker.id, count });
  recorder.state.workers.forgetIfIdle(worker);
}
