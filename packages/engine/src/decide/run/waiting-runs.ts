/** Runs that wait to be admitted: because their dag or their key has as many active runs as it may, or because their schedule says so (I7). */
import { assert } from '../../model/assert.ts';
import { RESIDENT } from '../../model/change/schedule.ts';
import { type RunId, type RunRow, scheduleIdOf } from '../../model/ids.ts';
import { waitsForOthers } from '../../model/schedule/schedule-policy.ts';
import type { Dag } from '../../tables/dag/dag.ts';
import { waitersFor } from '../../tables/past/past.ts';
import { ADMITTED, BACKFILL, OPEN } from '../../tables/run/run-table.ts';
import type { State } from '../../tables/state.ts';
import { isIdle as isRunIdle } from '../past/check-past.ts';
import type { Recorder } from '../recorder.ts';
import { admitRun, hasRoomForKey, keyOf, recordKey } from './run-key.ts';
import { windowOf } from './window-uid.ts';

/** How many of the waiting runs are looked at for one that others wait for, and how many such are admitted in one step. */
const LOOKED_AT = 100;
const MOST_SWAPS = 100;

/** The oldest run that waits: of all of them, or of those that may run beside others. Entries of runs that are gone are dropped on the way. */
export function oldestWaiting({ runs }: State, { waitingRuns }: Dag, ofAll = true): RunId | undefined {
  for (let runId = waitingRuns.peek(ofAll); runId !== undefined; runId = waitingRuns.peek(ofAll)) {
    const run = runs.find(runId);
    if (run >= 0 && runs.phase[run] === OPEN && !runs.has(run, ADMITTED)) return runId;
    waitingRuns.pop(ofAll);
  }
  return undefined;
}

/** Some run waits for its key. */
export function isAnyHeld({ runs, runKeys }: State, dag: Dag): boolean {
  for (const [, { waiting }] of runKeys.of(dag.id)) {
    for (const runId of waiting) {
      const run = runs.find(runId);
      if (run < 0 || runs.phase[run] === OPEN) return true;
    }
  }
  return false;
}

export function admitWaiting(recorder: Recorder, dag: Dag): void {
  admitOldest(recorder, dag);
  if (!recorder.state.past.isUsed) return;
  // Whoever was given a place, or a key, may do nothing but wait for one that has none.
  let swaps = 0;
  while (swaps < MOST_SWAPS && !recorder.isFull() && makeRoom(recorder, dag)) swaps += 1;
  // One that left so that another begins alone may go on beside it.
  if (swaps > 0) admitOldest(recorder, dag);
}

/** Oldest first. A run that must wait for all others lets those pass that need not; each is passed once. */
function admitOldest(recorder: Recorder, dag: Dag): void {
  const { state } = recorder;
  // Also where there is no room: whoever asks how many wait is not told of those that are gone.
  const isAnyWaiting = oldestWaiting(state, dag) !== undefined;
  while (isAnyWaiting && dag.hasRoomForRun() && !recorder.isFull()) {
    const isIdle = dag.activeRuns === 0;
    const runId = oldestWaiting(state, dag, isIdle);
    if (runId === undefined) break;
    if (!isIdle && mustWait(state, state.runs.find(runId))) {
      dag.waitingRuns.keepApart();
      continue;
    }
    dag.waitingRuns.pop(isIdle);
    const run = state.runs.find(runId);
    if (hasRoomForKey(state, run)) admitRun(recorder, run);
    else holdForKey(recorder, dag, run);
  }
}

/** Until one that has its key has ended. */
function holdForKey(recorder: Recorder, dag: Dag, run: RunRow): void {
  const key = keyOf(recorder.state, run);
  assert(key !== undefined, 'a run that waits for its key has one');
  const runId = recorder.state.runs.id[run]!;
  key.held.push(runId);
  if (dag.current.spec.concurrency?.onFull === 'cancel_running') recorder.state.agenda.keys.add(runId);
}

/**
 * A run waits to be admitted, and active runs do nothing but wait for it, such as for a failed one that was cleared. They give it
 * their places: none of them would go on otherwise. Never more than one place is needed, unless the limit was lowered, or the run must
 * have the dag for itself. Answers false when there is no such run.
 */
function makeRoom(recorder: Recorder, dag: Dag): boolean {
  const { state } = recorder;
  const { maxActiveRuns } = dag.current.spec;
  for (const runId of [...dag.waitingRuns.first(LOOKED_AT), ...firstHeld(state, dag, LOOKED_AT)]) {
    const run = state.runs.find(runId);
    if (run < 0 || state.runs.phase[run] !== OPEN || state.runs.has(run, ADMITTED)) continue;
    // Nobody waits for nearly each of them: that is found out first.
    if (waitersFor(state, run) === undefined) continue;
    const mostBeside = mustWait(state, run) ? 0 : (maxActiveRuns ?? Number.POSITIVE_INFINITY) - 1;
    const tooMany = Math.max(0, dag.activeRuns - mostBeside);
    const key = keyOf(state, run);
    const { concurrency } = dag.current.spec;
    const tooManyOfKey =
      key === undefined || key.hasRoom(concurrency?.limit) ? 0 : key.active.size - concurrency!.limit + 1;
    if (tooMany === 0 && tooManyOfKey === 0) continue;
    const idle = idleBehind(state, run, tooManyOfKey === 0 ? tooMany : LOOKED_AT);
    const ofKey = idle.filter((one) => key?.active.has(state.runs.id[one]!) === true).slice(0, tooManyOfKey);
    const others = idle.filter((one) => !ofKey.includes(one)).slice(0, Math.max(0, tooMany - ofKey.length));
    if (ofKey.length < tooManyOfKey || ofKey.length + others.length < tooMany) continue;
    for (const one of [...ofKey, ...others]) yieldPlace(recorder, one);
    admitRun(recorder, run);
    return true;
  }
  return false;
}

/** Some of those that wait for their key. */
function firstHeld({ runKeys }: State, dag: Dag, most: number): readonly RunId[] {
  if (dag.current.spec.concurrency === undefined) return [];
  const found: RunId[] = [];
  for (const [, { held }] of runKeys.of(dag.id)) {
    if (found.length >= most) break;
    found.push(...held.first(most - found.length));
  }
  return found;
}

function yieldPlace(recorder: Recorder, run: RunRow): void {
  const { runs, now } = recorder.state;
  recorder.record({ kind: 'RunYielded', runId: runs.id[run]!, at: now });
  recordKey(recorder, run, { isLive: true, isActive: false });
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

/**
 * It is for a window of a schedule whose runs wait until the dag has no active one. A run that a server of the version before has created
 * does not say so: its schedule does, and is in memory (`mustStay` in `tables/schedule/due.ts`).
 */
function mustWait(state: State, run: RunRow): boolean {
  const { runs, schedules } = state;
  // A backfill makes its runs beside others: how many, its own limit says.
  if (runs.has(run, BACKFILL)) return false;
  if (runs.notes.get(run)?.waits === true) return true;
  const dagId = runs.versionOf(run).dag.id;
  const scheduleNo = runs.scheduleNoOf(run);
  const schedule = schedules.get(scheduleIdOf({ dagId, scheduleNo }));
  if (schedule?.dueAt !== RESIDENT || !waitsForOthers(schedule.spec)) return false;
  return windowOf(runs.uidOf(run), { dagId, scheduleNo }) !== null;
}
