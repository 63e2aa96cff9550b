/**
 * Lets retries continue after their backoff: first the breaker of their failure must let them pass, then the retry budget of
 * the node.
 */

import type { TaskSlot } from '../../model/ids.ts';
import { ATTEMPT_OUTCOMES } from '../../model/task/outcome.ts';
import { AWAITS_RETRY } from '../../model/task/task-states.ts';
import type { Breaker, HeldTask } from '../../tables/breaker/breaker.ts';
import { watchBreaker } from '../../tables/breaker/watch-breaker.ts';
import { updateLanes } from '../../tables/queue/enqueue.ts';
import type { State } from '../../tables/state.ts';
import { findTask } from '../../tables/task/find-task.ts';
import { isMember } from '../../tables/task/gang.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import { taskNoOf } from '../../tables/task/task-slots.ts';
import type { Recorder } from '../recorder.ts';

const BUDGET_STEP_MS = 100;
const LOST = 1 + ATTEMPT_OUTCOMES.indexOf('lost');

/** The backoff of this task is over. */
export function passRetry(recorder: Recorder, slot: TaskSlot): void {
  const { state } = recorder;
  const breaker = breakerOf(state, slot);
  if (breaker === undefined) return passBudget(recorder, slot);
  if (!breaker.tryPass()) return breaker.hold(heldTask(state, slot));
  if (breaker.state === 'open') breaker.probe = heldTask(state, slot);
  passBudget(recorder, slot);
}

/** A task that was ready when the breaker opened goes behind it too. Answers whether it did. */
export function holdReady(recorder: Recorder, slot: TaskSlot): boolean {
  const { state } = recorder;
  const breaker = state.breakers.size === 0 ? undefined : breakerOf(state, slot);
  if (breaker === undefined || breaker.state !== 'open') return false;
  if (breaker.isProbe(state.runIdOfTask(slot), state.tasks.no[slot]!)) return false;
  recorder.move({ kind: 'RetryHeld', runId: state.runIdOfTask(slot), taskNo: taskNoOf(state, slot) });
  breaker.hold(heldTask(state, slot));
  return true;
}

/** A task of this dag begins: the dag's own breaker has let it through. */
export function passGate(state: State, slot: TaskSlot): void {
  const { dag } = state.runs.versionOf(state.tasks.run[slot]!);
  const { gate } = dag;
  if (gate === null || !gate.tryPass()) return;
  if (gate.state === 'open') {
    gate.probe = heldTask(state, slot);
    watchBreaker(state, gate, gate.pauseMs);
  }
  if (gate.allowance <= 0) updateLanes(dag);
}

/**
 * A task has just been claimed. If it is a probe, the pause begins now, not when it was let through: it may have waited for a slot,
 * and when it then tells nothing (its run is cancelled, its worker goes) the next one would follow at once. A claim that came
 * back and is made again puts nothing off.
 */
export function beginProbe(state: State, slot: TaskSlot): void {
  const breaker = breakerOf(state, slot);
  if (breaker?.state !== 'open' || !breaker.isProbe(state.runIdOfTask(slot), taskNoOf(state, slot))) return;
  if (state.tasks.fence[slot] === breaker.probe!.fence + 1) watchBreaker(state, breaker, breaker.pauseMs);
}

/** Lets the one go that has waited longest, if any still waits. */
export function release(recorder: Recorder, breaker: Breaker): boolean {
  for (let held = breaker.takeNext(); held !== undefined; held = breaker.takeNext()) {
    const slot = stillWaiting(recorder.state, held);
    if (slot === null) continue;
    passRetry(recorder, slot);
    return true;
  }
  return false;
}

/** The breaker is gone, and what it held goes on. */
export function releaseAll(recorder: Recorder, breaker: Breaker): void {
  for (let held = breaker.takeNext(); held !== undefined; held = breaker.takeNext()) {
    const slot = stillWaiting(recorder.state, held);
    if (slot !== null) passRetry(recorder, slot);
  }
}

function passBudget(recorder: Recorder, slot: TaskSlot): void {
  const { state } = recorder;
  const { budget } = state.breakers;
  // Whoever lost its worker does not wait for those that failed: it is not a storm's doing.
  if (state.tasks.lastOutcome[slot] === LOST) return makeReady(recorder, slot);
  if (budget.waitingCount === 0 && budget.tryTake(state.mono)) return makeReady(recorder, slot);
  budget.wait(heldTask(state, slot));
  if (budget.wakeAt === null) watchBudget(state);
}

/** The budget has filled up somewhat. */
export function wakeBudget(recorder: Recorder): void {
  const { state } = recorder;
  const { budget } = state.breakers;
  budget.wakeAt = null;
  while (budget.waitingCount > 0 && budget.tryTake(state.mono)) {
    const held = budget.takeNext();
    const slot = held === undefined ? null : stillWaiting(state, held);
    if (slot !== null) makeReady(recorder, slot);
  }
  if (budget.waitingCount > 0) watchBudget(state);
}

function makeReady(recorder: Recorder, slot: TaskSlot): void {
  const { state } = recorder;
  recorder.move({ kind: 'RetryReleased', runId: state.runIdOfTask(slot), taskNo: taskNoOf(state, slot) });
}

function watchBudget(state: State): void {
  const at = state.mono + BUDGET_STEP_MS;
  state.breakers.budget.wakeAt = at;
  state.timers.push({ at, kind: 'budget', subject: 0, taskNo: 0, stamp: 0 });
}

function breakerOf(state: State, slot: TaskSlot): Breaker | undefined {
  const fingerprint = state.tasks.fingerprint[slot]!;
  if (fingerprint === 0 || state.breakers.size === 0) return undefined;
  // A probe is one task, and members of a gang begin together.
  if (isMember(state, slot)) return undefined;
  return state.breakers.get(state.runs.versionOf(state.tasks.run[slot]!).dag.id, fingerprint);
}

function heldTask(state: State, slot: TaskSlot): HeldTask {
  return { runId: state.runIdOfTask(slot), taskNo: taskNoOf(state, slot), fence: state.tasks.fence[slot]! };
}

/** It may have been cancelled, cleared or tried by hand meanwhile. */
function stillWaiting(state: State, held: HeldTask): TaskSlot | null {
  const slot = findTask(state, held);
  if (slot === null || AWAITS_RETRY[state.tasks.state[slot]!] === 0 || state.tasks.fence[slot] !== held.fence)
    return null;
  return mayRun(state, slot) ? slot : null;
}
