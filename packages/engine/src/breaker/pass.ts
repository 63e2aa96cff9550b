/** How retries go on once their backoff is over: past the breaker of what they failed with, then past the budget of the node. */
import { updateLanes } from '../match/enqueue.ts';
import type { Recorder } from '../recorder.ts';
import { taskNoOf } from '../run/task-slots.ts';
import type { State } from '../state.ts';
import { mayRun, moveTask } from '../task/move.ts';
import { ATTEMPT_OUTCOMES } from '../task/outcome.ts';
import { findTask } from '../task/report.ts';
import { READY, RETRYING, RUNNING, WAITING } from '../task/task-table.ts';
import type { Breaker, HeldTask } from './breaker.ts';
import { closeBreaker } from './judge.ts';

/** A second from one step of the ramp to the next; each lets twice as many go. */
const RAMP_STEP_MS = 1_000;
const FIRST_RAMP = 10;
/** Ten, twenty … some five thousand in all: then a dag's own breaker has nothing left to guard. */
const DAG_RAMP_STEPS = 8;
/** So many pauses with nothing to try, and a breaker of an error closes: whatever failed so is gone. */
const IDLE_PAUSES = 3;
const BUDGET_STEP_MS = 100;
const LOST = 1 + ATTEMPT_OUTCOMES.indexOf('lost');

/** The backoff of this task is over. */
export function passRetry(state: State, slot: number): void {
  const breaker = breakerOf(state, slot);
  if (breaker === undefined) return passBudget(state, slot);
  if (!breaker.tryPass()) return breaker.hold(heldTask(state, slot));
  if (breaker.state === 'open') breaker.probe = heldTask(state, slot);
  passBudget(state, slot);
}

/** A task that was ready when the breaker opened goes behind it too. Answers whether it did. */
export function holdReady(state: State, slot: number): boolean {
  const breaker = state.breakers.size === 0 ? undefined : breakerOf(state, slot);
  if (breaker === undefined || breaker.state !== 'open') return false;
  if (breaker.isProbe(state.runIdOfTask(slot), state.tasks.no[slot]!)) return false;
  moveTask(state, slot, RETRYING);
  breaker.hold(heldTask(state, slot));
  return true;
}

/** A task of this dag begins: the dag's own breaker has let it through. */
export function passGate(state: State, slot: number): void {
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
export function beginProbe(state: State, slot: number): void {
  const breaker = breakerOf(state, slot);
  if (breaker?.state !== 'open' || !breaker.isProbe(state.runIdOfTask(slot), taskNoOf(state, slot))) return;
  if (state.tasks.fence[slot] === breaker.probe!.fence + 1) watchBreaker(state, breaker, breaker.pauseMs);
}

/** Its time has come: another probe, or the next step of the ramp. */
export function wakeBreaker(recorder: Recorder, breaker: Breaker): void {
  const { state } = recorder;
  // The dag was deployed without any since.
  if (state.dags.get(breaker.dagId)?.current.spec.breaker === null) return closeBreaker(recorder, breaker);
  if (breaker.state === 'open') wakeOpen(recorder, breaker);
  else wakeRamping(recorder, breaker);
  if (state.breakers.get(breaker.dagId, breaker.fingerprint) === breaker && breaker.wakeAt <= state.mono) {
    watchBreaker(state, breaker, breaker.state === 'open' ? breaker.pauseMs : RAMP_STEP_MS);
  }
}

export function watchBreaker(state: State, breaker: Breaker, delayMs: number): void {
  breaker.wakeAt = state.mono + Math.max(1, delayMs);
  state.timers.push({
    at: breaker.wakeAt,
    kind: 'breaker',
    subject: breaker.dagId,
    taskNo: 0,
    stamp: breaker.fingerprint,
  });
}

function wakeOpen(recorder: Recorder, breaker: Breaker): void {
  const { state } = recorder;
  if (breaker.probe !== null && isUnderWay(state, breaker, breaker.probe)) return;
  breaker.probe = null;
  breaker.allowance = 1;
  if (breaker.fingerprint === 0) return openLanes(state, breaker);
  if (release(state, breaker)) breaker.idlePauses = 0;
  else if (++breaker.idlePauses > IDLE_PAUSES) closeBreaker(recorder, breaker);
}

function wakeRamping(recorder: Recorder, breaker: Breaker): void {
  const { state } = recorder;
  breaker.allowance = FIRST_RAMP * 2 ** Math.min(breaker.rampSteps, 30);
  breaker.rampSteps += 1;
  if (breaker.fingerprint === 0) {
    if (breaker.rampSteps <= DAG_RAMP_STEPS) return openLanes(state, breaker);
    return closeBreaker(recorder, breaker);
  }
  while (breaker.allowance > 0 && release(state, breaker));
  if (breaker.heldCount === 0) closeBreaker(recorder, breaker);
}

/** Lets the one go that has waited longest, if any still waits. */
function release(state: State, breaker: Breaker): boolean {
  for (let held = breaker.takeNext(); held !== undefined; held = breaker.takeNext()) {
    const slot = stillWaiting(state, held);
    if (slot === null) continue;
    passRetry(state, slot);
    return true;
  }
  return false;
}

/** The breaker is gone, and what it held goes on. */
export function releaseAll(state: State, breaker: Breaker): void {
  for (let held = breaker.takeNext(); held !== undefined; held = breaker.takeNext()) {
    const slot = stillWaiting(state, held);
    if (slot !== null) passRetry(state, slot);
  }
}

function openLanes(state: State, breaker: Breaker): void {
  const dag = state.dags.get(breaker.dagId);
  if (dag !== undefined) updateLanes(dag);
}

function passBudget(state: State, slot: number): void {
  const { budget } = state.breakers;
  // Whoever lost its worker does not wait for those that failed: it is not a storm's doing.
  if (state.tasks.lastOutcome[slot] === LOST) return moveTask(state, slot, READY);
  if (budget.waitingCount === 0 && budget.tryTake(state.mono)) return moveTask(state, slot, READY);
  budget.wait(heldTask(state, slot));
  if (budget.wakeAt === null) watchBudget(state);
}

/** The budget has filled up somewhat. */
export function wakeBudget(state: State): void {
  const { budget } = state.breakers;
  budget.wakeAt = null;
  while (budget.waitingCount > 0 && budget.tryTake(state.mono)) {
    const held = budget.takeNext();
    const slot = held === undefined ? null : stillWaiting(state, held);
    if (slot !== null) moveTask(state, slot, READY);
  }
  if (budget.waitingCount > 0) watchBudget(state);
}

function watchBudget(state: State): void {
  const at = state.mono + BUDGET_STEP_MS;
  state.breakers.budget.wakeAt = at;
  state.timers.push({ at, kind: 'budget', subject: 0, taskNo: 0, stamp: 0 });
}

function breakerOf(state: State, slot: number): Breaker | undefined {
  const fingerprint = state.tasks.fingerprint[slot]!;
  if (fingerprint === 0 || state.breakers.size === 0) return undefined;
  return state.breakers.get(state.runs.versionOf(state.tasks.run[slot]!).dag.id, fingerprint);
}

function heldTask(state: State, slot: number): HeldTask {
  return { runId: state.runIdOfTask(slot), taskNo: taskNoOf(state, slot), fence: state.tasks.fence[slot]! };
}

/** It may have been cancelled, cleared or tried by hand meanwhile. */
function stillWaiting(state: State, held: HeldTask): number | null {
  const slot = findTask(state, held);
  if (slot === null || state.tasks.state[slot] !== RETRYING || state.tasks.fence[slot] !== held.fence) return null;
  return mayRun(state, slot) ? slot : null;
}

/** Let through, and not over: it waits for a slot, or runs. */
function isUnderWay(state: State, breaker: Breaker, probe: HeldTask): boolean {
  const slot = findTask(state, probe);
  if (slot === null || !mayRun(state, slot)) return false;
  const code = state.tasks.state[slot];
  if (code === RETRYING) return state.breakers.budget.waitingCount > 0 && state.tasks.fence[slot] === probe.fence;
  if (code === RUNNING || code === WAITING) return true;
  // Behind the dag's own breaker a claim that came back waits like all others. One that finds no slot is not waited for long.
  return code === READY && breaker.fingerprint !== 0 && ++breaker.idlePauses <= IDLE_PAUSES;
}
