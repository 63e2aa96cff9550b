/**
 * Gives slots to attempts that take too long: each gets a speculative attempt beside it, before other tasks of the same
 * priority begin. They are few, and their run waits for them. Each counts against the limit of its dag like any other (I44),
 * and goes to another worker than the first, if there is one.
 */
import type { AttemptSlot, TaskSlot } from '../../model/ids.ts';
import { requestOf } from '../../model/placement.ts';
import { laneOf } from '../../tables/queue/enqueue.ts';
import type { OfferGroup } from '../../tables/queue/offer-group.ts';
import { isPaused } from '../../tables/run/paused.ts';
import { forgetWanted } from '../../tables/speculative/wanted.ts';
import type { State } from '../../tables/state.ts';
import { taskSpecOf } from '../../tables/task/task-slots.ts';
import type { Offer } from '../../tables/worker/worker-table.ts';
import { claimSlot } from '../match/claim-slot.ts';
import { decisionBeside } from '../match/tell-decision.ts';
import type { Recorder } from '../recorder.ts';
import { ALONE_MS, maySpeculate } from './watch.ts';

/** No more than this share of a run's attempts are speculative: when all are slow, more of them help nobody. */
const MOST_SHARE = 0.25;

/** Answers false when the step was full. */
export function matchSpeculative(recorder: Recorder, priority: number): boolean {
  const { state } = recorder;
  const { wanted } = state.speculation;
  for (const [attempt, since] of wanted) {
    const slot = state.attempts.task[attempt]!;
    if (!maySpeculate(state, attempt)) forgetWanted(state, attempt);
    else if (state.runs.priority[state.tasks.run[slot]!] === priority && hasRoom(state, slot)) {
      const found = slotFor(state, attempt, since);
      if (found === null) continue;
      if (recorder.isFull()) return false;
      forgetWanted(state, attempt);
      claimSlot(recorder, {
        ...found,
        slot,
        request: requestOf(taskSpecOf(state, slot).placement),
        kind: 'speculative',
        decision: decisionBeside(state, { ...found, lane: laneOf(state, state.tasks.run[slot]!, slot) }),
      });
    }
  }
  return true;
}

export function hasRoom(state: State, slot: TaskSlot): boolean {
  const run = state.tasks.run[slot]!;
  const { dag } = state.runs.versionOf(run);
  // While its breaker probes, speculative attempts tell it nothing.
  if (dag.gate !== null || !dag.hasRoomForTask() || isPaused(state, slot)) return false;
  const lane = laneOf(state, run, slot);
  if (lane.queue.isHeld || !lane.hasRoom()) return false;
  const most = Math.max(1, Math.floor(state.runs.running[run]! * MOST_SHARE));
  return state.speculation.countOf(run) < most;
}

function slotFor(state: State, attempt: AttemptSlot, since: number): { group: OfferGroup; offer: Offer } | null {
  const slot = state.attempts.task[attempt]!;
  const { tenantId } = state.runs.versionOf(state.tasks.run[slot]!).dag;
  const { queue, placement } = taskSpecOf(state, slot);
  const groups = state.queues.groupsFor(tenantId, queue);
  const own = state.workers.at(state.attempts.worker[attempt]!);
  const request = requestOf(placement);
  if (request !== null) {
    for (const group of groups) {
      for (const offer of group.offers.inTurn())
        if (offer.worker !== own && offer.hasRoomFor(request)) return { group, offer };
    }
    return null;
  }
  for (const group of groups) {
    const offer = group.offers.anyBut(own);
    if (offer !== null) return { group, offer };
  }
  if (state.mono - since < ALONE_MS) return null;
  for (const group of groups) {
    const offer = group.offers.peek();
    if (offer !== undefined) return { group, offer };
  }
  return null;
}
