/** Runs that wait to be admitted: because their dag has as many active runs as it may, or because their schedule says so (I7). */
import { type RunId, type RunRow, type ScheduleNo, scheduleIdOf } from '../../model/ids.ts';
import { waitsForOthers } from '../../model/schedule/schedule-policy.ts';
import type { Dag } from '../../tables/dag/dag.ts';
import { waitersFor } from '../../tables/past/past.ts';
import { ADMITTED, BACKFILL, OPEN } from '../../tables/run/run-table.ts';
import type { State } from '../../tables/state.ts';
import { isIdle as isRunIdle } from '../past/check-past.ts';
import type { Recorder } from '../recorder.ts';
import { windowOf } from './window-uid.ts';

/** How many of the waiting runs are looked at for one that others wait for, and how many such are admitted in one step. */
const LOOKED_AT = 100;
const MOST_SWAPS = 100;
const FIRST = 1 as ScheduleNo;

/** The oldest run that waits: of all of them, or of those that may run beside others. Entries of runs that are gone are dropped on the way. */
export function oldestWaiting({ runs }: State, { waitingRuns }: Dag, ofAll = true): RunId | undefined {
  for (let runId = waitingRuns.peek(ofAll); runId !== undefined; runId = waitingRuns.peek(ofAll)) {
    const run = runs.find(runId);
    if (run >= 0 && runs.phase[run] === OPEN && !runs.has(run, ADMITTED)) return runId;
    waitingRuns.pop(ofAll);
  }
  return undefined;
}

/** Oldest first. A run that must wait for all others lets those pass that need not; each is passed once. */
export function admitWaiting(recorder: Recorder, dag: Dag): void {
  const { state } = recorder;
  if (oldestWaiting(state, dag) === undefined) return;
  while (dag.hasRoomForRun() && !recorder.isFull()) {
    const isIdle = dag.activeRuns === 0;
    const runId = oldestWaiting(state, dag, isIdle);
    if (runId === undefined) break;
    if (!isIdle && mustWait(state, state.runs.find(runId))) {
      dag.waitingRuns.keepApart();
      continue;
    }
    dag.waitingRuns.pop(isIdle);
    recorder.record({ kind: 'RunAdmitted', runId, at: state.now });
  }
  if (!state.past.isUsed) return;
  // Whoever was given a place may do nothing but wait for one that has none.
  for (let swaps = 0; swaps < MOST_SWAPS && !recorder.isFull() && makeRoom(recorder, dag); swaps++);
}

/**
 * A run waits to be admitted, and active runs do nothing but wait for it, such as for a failed one that was cleared. They give it
 * their places: none of them would go on otherwise. Never more than one place is needed, unless the limit was lowered, or the run must
 * have the dag for itself. Answers false when there is no such run.
 */
function makeRoom(recorder: Recorder, dag: Dag): boolean {
  const { state } = recorder;
  const { maxActiveRuns } = dag.current.spec;
  for (const runId of dag.waitingRuns.first(LOOKED_AT)) {
    const run = state.runs.find(runId);
    if (run < 0 || state.runs.phase[run] !== OPEN || state.runs.has(run, ADMITTED)) continue;
    // Nobody waits for nearly each of them: that is found out first.
    if (waitersFor(state, run) === undefined) continue;
    const mostBeside = mustWait(state, run) ? 0 : (maxActiveRuns ?? Number.POSITIVE_INFINITY) - 1;
    const tooMany = dag.activeRuns - mostBeside;
    if (tooMany <= 0) continue;
    const idle = idleBehind(state, run, tooMany);
    if (idle.length < tooMany) continue;
    for (const one of idle) recorder.record({ kind: 'RunYielded', runId: state.runs.id[one]!, at: state.now });
    recorder.record({ kind: 'RunAdmitted', runId, at: state.now });
    return true;
  }
  return false;
}

/** Active runs that do nothing but wait for this one, or for another of them; up to so many. */
function idleBehind(state: State, run: RunRow, most: number): readonly RunRow[] {
  const found = new Set<RunRow>();
  const stack = [run];
  for (let one = stack.pop(); one !== undefined && found.size < most; one = stack.pop()) {
    for (const waiter of waitersFor(state, one) ?? []) {
      if (found.size === most || found.has(waiter) || !isRunIdle(state, waiter)) continue;
      found.add(waiter);
      stack.push(waiter);
    }
  }
  return [...found];
}

/** It is for a window of a schedule whose runs wait until the dag has no active one. */
function mustWait(state: State, run: RunRow): boolean {
  const { runs, schedules } = state;
  // A backfill makes its runs beside others: how many, its own limit says.
  if (runs.has(run, BACKFILL)) return false;
  const dagId = runs.versionOf(run).dag.id;
  const scheduleNo = runs.scheduleNos.get(run) ?? FIRST;
  const schedule = schedules.get(scheduleIdOf({ dagId, scheduleNo }));
  if (schedule === undefined || !waitsForOthers(schedule.spec)) return false;
  return windowOf(runs.uidOf(run), { dagId, scheduleNo }) !== null;
}
