/** Matches slots with tasks: by priority first, then the oldest run. */
import { PRIORITIES } from '../../model/dag/spec.ts';
import { isReady } from '../../tables/queue/enqueue.ts';
import type { Lane } from '../../tables/queue/lane.ts';
import type { ReadyQueue } from '../../tables/queue/ready-queue.ts';
import { holdReady } from '../breaker/pass.ts';
import type { Recorder } from '../recorder.ts';
import { matchSpeculative } from '../speculative/match-speculative.ts';
import { claimAttempt } from './claim-attempt.ts';

/** Claims while slots and ready tasks meet. Answers false when the step was full before that. */
export function matchSlots(recorder: Recorder): boolean {
  for (let priority = 0; priority < PRIORITIES.length; priority++) {
    if (recorder.state.speculation.wanted.size > 0 && !matchSpeculative(recorder, priority)) return false;
    if (!matchPriority(recorder, priority)) return false;
  }
  return true;
}

function matchPriority(recorder: Recorder, priority: number): boolean {
  // A queue that has run out of tasks or of slots has nothing to match until the next step.
  const queues = [...recorder.state.queues.values()].filter((queue) => queue.top(priority) !== undefined);
  for (;;) {
    const queue = oldestFit(recorder, queues, priority);
    if (queue === null) return true;
    if (recorder.isFull()) return false;
    const lane = queue.top(priority)!;
    claimAttempt(recorder, lane.headSlot(), queue.offers.peek()!);
    queue.offers.passTurn();
    dropStaleHeads(recorder, lane);
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
