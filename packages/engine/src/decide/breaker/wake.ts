/** Handles the timer of a breaker: another probe, or the next step of its ramp. */
import { AWAITS_RETRY, HOLDS_CLAIM, READY } from '../../model/task/task-states.ts';
import type { Breaker, HeldTask } from '../../tables/breaker/breaker.ts';
import { watchBreaker } from '../../tables/breaker/watch-breaker.ts';
import { updateLanes } from '../../tables/queue/enqueue.ts';
import type { State } from '../../tables/state.ts';
import { findTask } from '../../tables/task/find-task.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import type { Recorder } from '../recorder.ts';
import { holdReady, release } from './pass.ts';
import { closeBreaker } from './set-breaker.ts';

/** A second from one step of the ramp to the next; each lets twice as many go. */
const RAMP_STEP_MS = 1_000;
const FIRST_RAMP = 10;
/** Ten, twenty … some five thousand in all: then a dag's own breaker has nothing left to guard. */
const DAG_RAMP_STEPS = 8;
/** So many pauses with nothing to try, and a breaker of an error closes: whatever failed so is gone. */
const IDLE_PAUSES = 3;

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

function wakeOpen(recorder: Recorder, breaker: Breaker): void {
  const { state } = recorder;
  if (breaker.probe !== null && isUnderWay(state, breaker, breaker.probe)) return;
  const last = breaker.probe;
  breaker.probe = null;
  breaker.allowance = 1;
  if (breaker.fingerprint === 0) return openLanes(state, breaker);
  if (last !== null) holdAgain(recorder, last);
  if (release(recorder, breaker)) breaker.idlePauses = 0;
  else if (++breaker.idlePauses > IDLE_PAUSES) closeBreaker(recorder, breaker);
}

/** The probe found no slot: it waits behind the breaker again, and another is let through. */
function holdAgain(recorder: Recorder, probe: HeldTask): void {
  const slot = findTask(recorder.state, probe);
  if (slot !== null && recorder.state.tasks.state[slot] === READY) holdReady(recorder, slot);
}

function wakeRamping(recorder: Recorder, breaker: Breaker): void {
  const { state } = recorder;
  breaker.allowance = FIRST_RAMP * 2 ** Math.min(breaker.rampSteps, 30);
  breaker.rampSteps += 1;
  if (breaker.fingerprint === 0) {
    if (breaker.rampSteps <= DAG_RAMP_STEPS) return openLanes(state, breaker);
    return closeBreaker(recorder, breaker);
  }
  while (breaker.allowance > 0 && release(recorder, breaker));
  if (breaker.heldCount === 0) closeBreaker(recorder, breaker);
}

function openLanes(state: State, breaker: Breaker): void {
  const dag = state.dags.get(breaker.dagId);
  if (dag !== undefined) updateLanes(dag);
}

/** Let through, and not over: it waits for a slot, or runs. */
function isUnderWay(state: State, breaker: Breaker, probe: HeldTask): boolean {
  const slot = findTask(state, probe);
  if (slot === null || !mayRun(state, slot)) return false;
  const code = state.tasks.state[slot]!;
  if (AWAITS_RETRY[code] === 1)
    return state.breakers.budget.waitingCount > 0 && state.tasks.fence[slot] === probe.fence;
  if (HOLDS_CLAIM[code] === 1) return true;
  // Behind the dag's own breaker a claim that came back waits like all others. One that finds no slot is not waited for long.
  return code === READY && breaker.fingerprint !== 0 && ++breaker.idlePauses <= IDLE_PAUSES;
}
