/** Finds running attempts: by task, by worker, by claim. */
import type { ClaimRef } from '../../model/command.ts';
import type { AttemptSlot, TaskSlot } from '../../model/ids.ts';
import type { State } from '../state.ts';
import { findTask } from '../task/find-task.ts';
import type { Worker } from '../worker/worker-table.ts';
import { NO_ATTEMPT } from './attempt-table.ts';

/** The leading attempt of a task, or NO_ATTEMPT when none runs. */
export function leadingOf({ tasks }: State, slot: TaskSlot): AttemptSlot {
  return tasks.attempt[slot]!;
}

export function isLeading({ attempts, tasks }: State, attempt: AttemptSlot): boolean {
  return tasks.attempt[attempts.task[attempt]!] === attempt;
}

/** The other attempt of the same task, or NO_ATTEMPT. */
export function besideOf({ attempts, tasks }: State, attempt: AttemptSlot): AttemptSlot {
  const leading = tasks.attempt[attempts.task[attempt]!]!;
  return leading === attempt ? attempts.nextOfTask[attempt]! : leading;
}

/** The attempt of the task that has this fence, or NO_ATTEMPT when it does not run. */
export function attemptWith({ attempts, tasks }: State, slot: TaskSlot, fence: number): AttemptSlot {
  let attempt = tasks.attempt[slot]!;
  while (attempt !== NO_ATTEMPT && attempts.fence[attempt] !== fence) attempt = attempts.nextOfTask[attempt]!;
  return attempt;
}

/** The attempt that holds this claim (I21), or null. */
export function findAttempt(state: State, claim: Omit<ClaimRef, 'attemptNo'>): AttemptSlot | null {
  const slot = findTask(state, claim);
  const attempt = slot === null ? NO_ATTEMPT : attemptWith(state, slot, claim.fence);
  return attempt === NO_ATTEMPT ? null : attempt;
}

/** The attempts of a task, as they are now: the leading one first. */
export function attemptsOfTask({ attempts, tasks }: State, slot: TaskSlot): AttemptSlot[] {
  const all: AttemptSlot[] = [];
  for (let one = tasks.attempt[slot]!; one !== NO_ATTEMPT; one = attempts.nextOfTask[one]!) all.push(one);
  return all;
}

/** The attempts of a worker, as they are now. */
export function attemptsOfWorker({ attempts }: State, worker: Worker): AttemptSlot[] {
  const all: AttemptSlot[] = [];
  for (let one = worker.firstAttempt; one !== NO_ATTEMPT; one = attempts.nextOfWorker[one]!) all.push(one);
  return all;
}
