/** What is told of a claim beside its assignment: the workers that it could have gone to, the limits it was under, and what waited with it. */
import { PRIORITIES } from '../../model/dag/spec.ts';
import { type Candidate, type ClaimDecision, type LimitConsulted, MOST_CANDIDATES } from '../../model/decision.ts';
import { type Considered, candidateOf } from '../../tables/decision/decisions.ts';
import { subjectOfHold } from '../../tables/queue/blockers.ts';
import type { Lane } from '../../tables/queue/lane.ts';
import type { OfferGroup } from '../../tables/queue/offer-group.ts';
import type { State } from '../../tables/state.ts';
import type { Offer } from '../../tables/worker/worker-table.ts';

/** Workers in turn may be many, and most of them without a free slot. */
const MOST_LOOKED_AT = 64;

interface Claiming {
  readonly group: OfferGroup;
  readonly lane: Lane;
  readonly offer: Offer;
}

/** Of the head of a lane, before it is claimed. Null: it is one of too many. */
export function decisionOn(state: State, claim: Claiming): ClaimDecision | null {
  const { decisions, mono } = state;
  const { group, lane, offer } = claim;
  if (lane.queue.request === null) {
    return decisions.takeTurn(mono) ? tell(state, 'turn', claim, inTurn(group, offer)) : null;
  }
  const considered = decisions.takeChosen(mono);
  return considered === null ? null : tell(state, 'placed', claim, placed(considered));
}

/** Of an attempt beside a slow one: it goes to another worker than that, and before what waits. */
export function decisionBeside(state: State, claim: Claiming): ClaimDecision | null {
  if (state.decisions.takeChosen(state.mono) === null) return null;
  return tell(state, 'speculative', claim, inTurn(claim.group, claim.offer));
}

/** Of a member of a gang: its place was found together with those of the others. */
export function decisionInGang(state: State, claim: Claiming): ClaimDecision | null {
  if (state.decisions.takeChosen(state.mono) === null) return null;
  return tell(state, 'gang', claim, { candidates: [candidateOf(claim.offer, null)], fitting: claim.group.offers.size });
}

interface Workers {
  readonly candidates: readonly Candidate[];
  readonly fitting: number;
}

function inTurn(group: OfferGroup, chosen: Offer): Workers {
  const candidates = [candidateOf(chosen, null)];
  let looked = 0;
  for (const offer of group.offers.inTurn()) {
    looked += 1;
    if (looked > MOST_LOOKED_AT || candidates.length === MOST_CANDIDATES) break;
    if (offer !== chosen && offer.free > 0) candidates.push(candidateOf(offer, null));
  }
  return { candidates, fitting: candidates.length };
}

function placed(considered: Considered): Workers {
  return { candidates: considered.candidates(), fitting: considered.fitting };
}

function tell(
  state: State,
  kind: ClaimDecision['kind'],
  { group, lane, offer }: Claiming,
  workers: Workers,
): ClaimDecision {
  const { priority, queue } = lane;
  return {
    kind,
    priority: PRIORITIES[priority] ?? 'backfill',
    queue: queue.name,
    request: queue.request,
    waiting: queue.waitingAt(priority),
    dags: queue.activeTurns(priority).length,
    tenants: group.waitingAt(priority).length,
    workers: group.offers.size,
    ...workers,
    limits: limitsOf(lane),
    loan: group.only !== null ? 'reserved' : offer.standing ? 'standing' : 'once',
    slotCameFree: offer.lentIn === state.batchNo,
  };
}

function limitsOf({ dag, holds }: Lane): LimitConsulted[] {
  const ofDag = `dag:${dag.name}`;
  const found: LimitConsulted[] = [];
  const { taskRoom, gate } = dag;
  if (gate !== null) found.push({ limit: `breaker of ${ofDag}`, takes: 1, free: gate.allowance });
  if (taskRoom !== null) found.push({ limit: ofDag, takes: 1, free: taskRoom });
  for (const { hold, slots } of holds) {
    if (!Number.isFinite(hold.room)) continue;
    found.push({ limit: subjectOfHold(hold, ofDag), takes: slots, free: hold.room });
  }
  return found;
}
