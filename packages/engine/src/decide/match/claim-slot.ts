/** Claims a task for a slot on loan: the slot and what else it asks for are used up, and the tenant's share of the group is charged. */
import type { ClaimDecision } from '../../model/decision.ts';
import type { TaskSlot } from '../../model/ids.ts';
import { type Booking, type GangPlace, type Request, subtractAmounts } from '../../model/placement.ts';
import { BACKFILL_LANES } from '../../tables/queue/classes.ts';
import type { OfferGroup } from '../../tables/queue/offer-group.ts';
import { BACKFILL } from '../../tables/run/run-table.ts';
import type { State } from '../../tables/state.ts';
import type { Offer } from '../../tables/worker/worker-table.ts';
import type { Recorder } from '../recorder.ts';
import { claimAttempt } from './claim-attempt.ts';

interface SlotClaim {
  readonly group: OfferGroup;
  readonly offer: Offer;
  readonly slot: TaskSlot;
  /** What the task asks for; the offer has it. */
  readonly request: Request | null;
  readonly kind?: 'leading' | 'speculative';
  /** Of a member of a gang. */
  readonly gang?: GangPlace;
  /** Told with the assignment. */
  readonly decision: ClaimDecision | null;
}

export function claimSlot(
  recorder: Recorder,
  { group, offer, slot, request, kind = 'leading', gang, decision }: SlotClaim,
): void {
  const booking = request === null ? null : book(offer, request, gang);
  offer.free -= 1;
  claimAttempt(recorder, slot, offer.worker, kind, booking, decision);
  group.offers.passTurn();
  if (group.isShared) charge(recorder.state, group, slot);
}

/** Takes what the task asks for beside its one slot. */
function book(offer: Offer, { resources, exclusive }: Request, gang: GangPlace | undefined): Booking {
  subtractAmounts(offer.room, resources);
  const slots = exclusive ? offer.free : 1;
  offer.free -= slots - 1;
  offer.worker.free -= slots - 1;
  return gang === undefined ? { slots, resources, exclusive } : { slots, resources, exclusive, gang };
}

function charge(state: State, group: OfferGroup, slot: TaskSlot): void {
  const { attempts, runs, tasks } = state;
  const run = tasks.run[slot]!;
  const priority = runs.has(run, BACKFILL) ? BACKFILL_LANES : runs.priority[run]!;
  const flow = group.flowOf(runs.versionOf(run).dag.tenantId, priority);
  if (flow === undefined) return;
  group.charge(flow, state.mono);
  // The newest attempt of the task: a speculative one comes second.
  const leading = tasks.attempt[slot]!;
  const beside = attempts.nextOfTask[leading]!;
  attempts.flows.set(beside >= 0 ? beside : leading, flow);
}
