/**
 * The share of backfills. While other tasks wait for the same queue, tasks of backfills get a part of the claims (5 % unless the
 * backfill says otherwise) and of the slots; the rest of the time they get all that is left.
 *
 * Both parts are limited: of the claims alone, long tasks of a backfill would hold more and more slots; of the slots alone, a small
 * fleet, which has no twentieth of a slot, would give them a whole one again and again.
 */
import { DEFAULT_SHARE } from '../../model/backfill.ts';
import { BACKFILL_LANES } from '../../tables/queue/classes.ts';
import type { Lane } from '../../tables/queue/lane.ts';
import type { ReadyQueue } from '../../tables/queue/ready-queue.ts';
import type { Recorder } from '../recorder.ts';

/** A claim of another task while one of a backfill waits. */
export function countClaim(queue: ReadyQueue): void {
  if (queue.top(BACKFILL_LANES) !== undefined) queue.claimsBeforeBackfill += 1;
}

/** Whether the next slot of a queue in which other tasks wait goes to a backfill. */
export function isBackfillsTurn({ state }: Recorder, queue: ReadyQueue, lane: Lane): boolean {
  const share = shareOf(state, lane);
  if ((queue.claimsBeforeBackfill + 1) * share < 1) return false;
  return state.backfillAttempts < Math.max(1, Math.floor(share * state.attempts.count));
}

export function takeTurn({ state }: Recorder, queue: ReadyQueue, lane: Lane): void {
  // What was not used in time is not saved up: a long wait for a limit must not end in a burst.
  queue.claimsBeforeBackfill = Math.min(queue.claimsBeforeBackfill + 1 - 1 / shareOf(state, lane), 1);
}

function shareOf({ tasks, runs, backfills }: Recorder['state'], lane: Lane): number {
  const uid = runs.notes.get(tasks.run[lane.headSlot()]!)?.backfill;
  return (uid === undefined ? undefined : backfills.get(uid))?.spec.share ?? DEFAULT_SHARE;
}
