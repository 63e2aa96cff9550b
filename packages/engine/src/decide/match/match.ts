/** Matches slots with tasks: by priority first, then the oldest run. Backfills come last, but for their share. */
import { PRIORITIES } from '../../model/dag/spec.ts';
import { isReady } from '../../tables/queue/enqueue.ts';
import type { Lane } from '../../tables/queue/lane.ts';
import { BACKFILL_LANES, type ReadyQueue } from '../../tables/queue/ready-queue.ts';
import { holdReady } from '../breaker/pass.ts';
import type { Recorder } from '../recorder.ts';
import { matchSpeculative } from '../speculative/match-speculative.ts';
import { countClaim, isBackfillsTurn, takeTurn } from './backfill-share.ts';
import { claimAttempt } from './claim-attempt.ts';

/** Claims while slots and ready tasks meet. Answers false when the step was full before that. */
export function matchSlots(recorder: Recorder): boolean {
  const hasBackfills = recorder.state.runs.windows.size > 0 && hasBackfillLanes(recorder);
  if (hasBackfills && !matchShare(recorder)) return false;
  for (let priority = 0; priority < PRIORITIES.length; priority++) {
    if (recorder.state.speculation.wanted.size > 0 && !matchSpeculative(recorder, priority)) return false;
    if (!matchPriority(recorder, priority, hasBackfills)) return false;
  }
  return !hasBackfills || matchPriority(recorder, BACKFILL_LANES);
}

function hasBackfillLanes({ state }: Recorder): boolean {
  for (const queue of state.queues.values()) if (queue.top(BACKFILL_LANES) !== undefined) return true;
  return false;
}

/** What backfills get before the others: only where others wait, for the rest is theirs anyway. */
function matchShare(recorder: Recorder): boolean {
  for (const queue of recorder.state.queues.values()) {
    while (queue.offers.peek() !== undefined && queue.hasLiveWork()) {
      const lane = freshTop(recorder, queue, BACKFILL_LANES);
      if (lane === undefined || !isBackfillsTurn(recorder, queue, lane)) break;
      if (recorder.isFull()) return false;
      takeTurn(recorder, queue, lane);
      claimHead(recorder, queue, lane);
    }
  }
  return true;
}

function claimHead(recorder: Recorder, queue: ReadyQueue, lane: Lane): void {
  claimAttempt(recorder, lane.headSlot(), queue.offers.peek()!);
  queue.offers.passTurn();
  dropStaleHeads(recorder, lane);
}

function matchPriority(recorder: Recorder, priority: number, isBeforeBackfills = false): boolean {
  // A queue that has run out of tasks or of slots has nothing to match until the next step.
  const queues = [...recorder.state.queues.values()].filter((queue) => queue.top(priority) !== undefined);
  for (;;) {
    const queue = oldestFit(recorder, queues, priority);
    if (queue === null) return true;
    if (recorder.isFull()) return false;
    claimHead(recorder, queue, queue.top(priority)!);
    if (isBeforeBackfills) countClaim(queue);
  }
}

/** Of the queues with a ready task of this priority and a free slot: the one whose head is oldest. Drops the others. */
function oldestFit(recorder: Recorder, queues: ReadyQueue[], priority: number): ReadyQueue | null {
  let best: ReadyQueue | null = null;
  let oldest = Number.POSITIVE_INFINITY;
  for (let i = queues.length - 1; i >= 0; i--) {
    const queue = queues[i]!;
    const lane = freshTop(recorder, queue, priority);
    if (lane === undefined || queue.offers.peek() === undefined) queues.splice(i, 1);
    else if (lane.headRunId() < oldest) {
      best = queue;
      oldest = lane.headRunId();
    }
  }
  return best;
}

function freshTop(recorder: Recorder, queue: ReadyQueue, priority: number): Lane | undefined {
  for (let lane = queue.top(priority); lane !== undefined; lane = queue.top(priority)) {
    if (isReady(recorder.state, lane.headRunId(), lane.headSlot()) && !holdReady(recorder, lane.headSlot())) {
      return lane;
    }
    dropStaleHeads(recorder, lane);
  }
  return undefined;
}

function dropStaleHeads(recorder: Recorder, lane: Lane): void {
  while (lane.size > 0 && !isReady(recorder.state, lane.headRunId(), lane.headSlot())) lane.pop();
  lane.queue.update(lane);
}
