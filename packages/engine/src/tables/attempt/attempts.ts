/** Adds and removes the rows of attempts, and keeps the counts that limits look at (I45). */
import type { AttemptSlot, TaskSlot } from '../../model/ids.ts';
import { countSlots, updateLanes } from '../queue/enqueue.ts';
import { BACKFILL } from '../run/run-table.ts';
import { forgetWanted } from '../speculative/wanted.ts';
import type { State } from '../state.ts';
import type { Worker } from '../worker/worker-table.ts';
import { NO_ATTEMPT, NO_WORKER } from './attempt-table.ts';
import { UNCONFIRMED } from './confirmed.ts';
import { besideOf } from './find-attempt.ts';

/** It leads if the task has no other, and is speculative if it has. It has no worker yet: see `giveToWorker`. */
export function addAttempt(state: State, slot: TaskSlot, attemptNo: number, fence: number): AttemptSlot {
  const { attempts, tasks } = state;
  const attempt = attempts.allocate();
  attempts.task[attempt] = slot;
  attempts.nextOfTask[attempt] = NO_ATTEMPT;
  attempts.attemptNo[attempt] = attemptNo;
  attempts.fence[attempt] = fence;
  attempts.worker[attempt] = NO_WORKER;
  attempts.confirmed[attempt] = UNCONFIRMED;
  const leading = tasks.attempt[slot]!;
  if (leading === NO_ATTEMPT) tasks.attempt[slot] = attempt;
  else {
    attempts.nextOfTask[leading] = attempt;
    state.speculation.count(tasks.run[slot]!, 1);
  }
  return attempt;
}

/** The attempt has ended, or its claim was returned. If it led, the other one of the task leads from here on. */
export function removeAttempt(state: State, attempt: AttemptSlot): void {
  const { attempts, tasks, speculation } = state;
  if (attempts.worker[attempt] !== NO_WORKER) takeFromWorker(state, attempt);
  const slot = attempts.task[attempt]!;
  const other = besideOf(state, attempt);
  tasks.attempt[slot] = other;
  if (other !== NO_ATTEMPT) {
    attempts.nextOfTask[other] = NO_ATTEMPT;
    speculation.count(tasks.run[slot]!, -1);
  }
  if (speculation.wanted.size > 0) forgetWanted(state, attempt);
  if (attempts.flows.size > 0) endUse(state, attempt);
  attempts.release(attempt);
}

/** It uses nothing more of the share of its tenant. */
function endUse({ attempts, mono }: State, attempt: AttemptSlot): void {
  attempts.flows.get(attempt)?.end(mono);
  attempts.flows.delete(attempt);
}

export function giveToWorker(state: State, attempt: AttemptSlot, worker: Worker): void {
  const { attempts, tasks, runs } = state;
  const first = worker.firstAttempt;
  attempts.worker[attempt] = worker.no;
  attempts.previousOfWorker[attempt] = NO_ATTEMPT;
  attempts.nextOfWorker[attempt] = first;
  if (first !== NO_ATTEMPT) attempts.previousOfWorker[first] = attempt;
  worker.firstAttempt = attempt;
  worker.running += 1;
  const run = tasks.run[attempts.task[attempt]!]!;
  runs.running[run]! += 1;
  if (runs.has(run, BACKFILL)) state.backfillAttempts += 1;
  const { dag, hasOwnLimits } = runs.versionOf(run);
  dag.runningTasks += 1;
  if (!dag.hasRoomForTask() || dag.hasGangs) updateLanes(dag);
  if (hasOwnLimits || state.limits.isUsed) countSlots(state, attempts.task[attempt]!, 1);
}

function takeFromWorker(state: State, attempt: AttemptSlot): void {
  const { attempts, tasks, runs } = state;
  const worker = state.workers.at(attempts.worker[attempt]!)!;
  const [previous, next] = [attempts.previousOfWorker[attempt]!, attempts.nextOfWorker[attempt]!];
  if (previous === NO_ATTEMPT) worker.firstAttempt = next;
  else attempts.nextOfWorker[previous] = next;
  if (next !== NO_ATTEMPT) attempts.previousOfWorker[next] = previous;
  worker.running -= 1;
  state.workers.forgetIfIdle(worker);
  const run = tasks.run[attempts.task[attempt]!]!;
  runs.running[run]! -= 1;
  if (runs.has(run, BACKFILL)) state.backfillAttempts -= 1;
  if (runs.running[run] === 0) state.agenda.runs.add(run);
  const { dag, hasOwnLimits } = runs.versionOf(run);
  const wasFull = !dag.hasRoomForTask();
  dag.runningTasks -= 1;
  if (wasFull || dag.hasGangs) updateLanes(dag);
  if (hasOwnLimits || state.limits.isUsed) countSlots(state, attempts.task[attempt]!, -1);
}
