/** Which tasks wait for the window before, and what happens when one of a run that others wait for ends. */
import { type Instant, type RunRow, scheduleIdOf, type TaskSlot } from '../../model/ids.ts';
import type { PastNote } from '../../model/run/run-notes.ts';
import { windowName } from '../../model/window-name.ts';
import type { State } from '../state.ts';
import { specNoOf } from '../task/task-slots.ts';

/** How often to look whether the run that tasks wait for is still stored. */
const LOOK_AGAIN_MS = 10 * 60_000;

/** The task is ready, and waits for the window before. */
export function isHeldByPast(state: State, slot: TaskSlot): boolean {
  if (!state.past.isUsed) return false;
  return state.past.get(state.tasks.run[slot]!)?.left.has(specNoOf(state, slot)) === true;
}

/** What the run is to wait for: nothing, a window, or one that is still to be found. Before its tasks are put into lanes. */
export function holdForPast(state: State, run: RunRow, note: PastNote | undefined, createdIn: number): void {
  const { runs, past } = state;
  const { pastTasks } = runs.versionOf(run);
  if (pastTasks.length === 0 || !runs.windows.has(run)) return;
  if (note === undefined) past.hold(run, pastTasks, createdIn);
  else if (note.at !== null && note.left.length > 0) {
    waitForWindow(state, run, note.at, note.left);
    if (past.endedEarly.has(nameOfWindow(state, run, note.at))) past.lookAgain(run);
  }
}

export function waitForWindow(state: State, run: RunRow, at: Instant, left: readonly number[]): void {
  state.past.link(run, { at, name: nameOfWindow(state, run, at) }, left);
  if (left.length > 0) lookAgainLater(state, run);
}

export function lookAgainLater(state: State, run: RunRow): void {
  const subject = state.runs.id[run]!;
  state.timers.push({ at: state.mono + LOOK_AGAIN_MS, kind: 'past', subject, taskNo: 0, stamp: 0 });
}

/** The window of the schedule that the run is of. */
function nameOfWindow({ runs }: State, run: RunRow, at: Instant): string {
  const scheduleNo = runs.scheduleNoOf(run);
  return windowName(scheduleIdOf({ dagId: runs.versionOf(run).dag.id, scheduleNo }), at);
}

/** The runs that wait for the window of this one. */
export function waitersFor(state: State, run: RunRow): ReadonlySet<RunRow> | undefined {
  const window = state.runs.windows.get(run);
  return window === undefined ? undefined : state.past.waitersOf(nameOfWindow(state, run, window.at));
}

/** A task of the run has ended: others may wait for that, and a run that itself waits may have nothing else to do now. */
export function noteEnd(state: State, run: RunRow): void {
  const window = state.runs.windows.get(run);
  if (window !== undefined && state.partial.has(state.runs.versionOf(run).dag.id)) {
    state.past.endedEarly.add(nameOfWindow(state, run, window.at));
  }
  if (waitersFor(state, run) !== undefined) state.agenda.past.add(run);
  if (state.past.get(run) !== undefined) state.agenda.dags.add(state.runs.versionOf(run).dag);
}
