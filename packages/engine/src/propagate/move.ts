/** Moves tasks of live runs: updates the counts of the run and the lanes, and propagates to the tasks downstream. */

import { assert } from '../model/assert.ts';
import type { RunRow, TaskSlot } from '../model/ids.ts';
import {
  AWAITS_ATTEMPT,
  BLOCKED,
  CANCELLED,
  HAS_ENDED,
  HOLDS_CLAIM,
  IS_FAILURE,
  IS_GIVEN_UP,
  IS_TERMINAL,
  mayMove,
  READY,
  SKIPPED,
  SUCCEEDED,
  TASK_STATE_NAMES,
  UPSTREAM_FAILED,
} from '../model/task/task-states.ts';
import { watchMap } from '../tables/map/watch-map.ts';
import { noteEnd } from '../tables/past/past.ts';
import { enqueue, leaveLane } from '../tables/queue/enqueue.ts';
import { FORCED, HAS_SKIPPED, OPEN } from '../tables/run/run-table.ts';
import type { State } from '../tables/state.ts';
import { isClosingTask } from '../tables/task/may-run.ts';
import { forgetQueued, hasOwnState } from '../tables/task/task-notes.ts';
import { forEachSlot, specNoOf } from '../tables/task/task-slots.ts';
import { slotAt } from '../tables/task/task-table.ts';
import { allClosers } from './closers.ts';
import { decideCloser, decideClosingAnew, outcomeOf, settleClosing, wakeClosing } from './closing.ts';
import { summariseAll } from './map/tally.ts';
import type { RunTasksView } from './run-tasks-view.ts';
import { type Standing } from './run-tasks-view.ts';
import { decideAnew, decideMarked, recountAll, settle, settleRoots } from './settle.ts';

/** Moves a task, and the counts that go with it. The one place that writes `state`. */
export function moveTask(state: State, slot: TaskSlot, to: number): void {
  const { tasks, runs } = state;
  const from = tasks.state[slot]!;
  // Asked for before the sentence is made: this is the most frequent call of all.
  if (!mayMove(from, to)) assert(false, `a task moves from ${TASK_STATE_NAMES[from]} to ${TASK_STATE_NAMES[to]}`);
  tasks.state[slot] = to;
  const isOver = IS_TERMINAL[to] === 1;
  const wasOver = IS_TERMINAL[from] === 1;
  if (wasOver !== isOver) countOver(state, slot, isOver);
  if (from === READY) leaveLane(state, slot);
  if (tasks.notes.size > 0 && (to === BLOCKED || isOver)) forgetQueued(state, slot);
  if (to === READY) enqueue(state, slot);
  if (!isOver) {
    if (wasOver) uncount(state, slot, from);
    return;
  }
  const run = tasks.run[slot]!;
  if (state.past.isUsed || state.partial.size > 0) noteEnd(state, run);
  if (isClosingTask(state, slot)) {
    runs.closingLeft[run]! -= 1;
    if (runs.closingLeft[run] === 0) state.agenda.runs.add(run);
    return;
  }
  runs.unfinished[run]! -= 1;
  if (failsRun(state, run, slot, to)) {
    runs.failed[run]! += 1;
    if (runs.versionOf(run).graph.isFailFast) state.agenda.runs.add(run);
  }
  if (runs.unfinished[run] === 0) state.agenda.runs.add(run);
}

/** Counts how many instances of the map have ended. */
function countOver({ tasks, runs }: State, slot: TaskSlot, isOver: boolean): void {
  const run = tasks.run[slot]!;
  const { graph, taskCount } = runs.versionOf(run);
  if (graph.maps === null || tasks.no[slot]! < taskCount) return;
  runs.mapsOf(run)!.countOver(tasks.no[slot]!, isOver ? 1 : -1);
}

function uncount(state: State, slot: TaskSlot, from: number): void {
  const { tasks, runs } = state;
  const run = tasks.run[slot]!;
  if (isClosingTask(state, slot)) {
    runs.closingLeft[run]! += 1;
    return;
  }
  runs.unfinished[run]! += 1;
  if (failsRun(state, run, slot, from)) runs.failed[run]! -= 1;
}

export function failsRun(state: State, run: RunRow, slot: TaskSlot, code: number): boolean {
  if (IS_FAILURE[code] === 0) return false;
  return state.runs.versionOf(run).graph.decidesRun(specNoOf(state, slot));
}

/** The run has just been created: what waits for nothing is decided. */
export function settleStart(state: State, run: RunRow): void {
  const { graph } = state.runs.versionOf(run);
  const base = state.runs.base[run]!;
  if (!graph.isPlain) return settleRoots(viewOf(state, run));
  for (let i = 0; i < graph.roots.length; i++) moveTask(state, slotAt(base, graph.roots[i]!), READY);
}

/** The task ended: those behind it become ready, or will never run. */
export function settleDownstream(state: State, slot: TaskSlot): void {
  const { tasks, runs } = state;
  const run = tasks.run[slot]!;
  const base = runs.base[run]!;
  const { graph } = runs.versionOf(run);
  const no = tasks.no[slot]!;
  // Stopped by hand, to be cleared or marked at once: nothing is decided behind it.
  if (tasks.state[slot] === CANCELLED && runs.phase[run] === OPEN) return;
  if (!graph.isPlain || tasks.state[slot] !== SUCCEEDED || runs.has(run, HAS_SKIPPED)) {
    settle(viewOf(state, run), no);
    return wakeIfIdle(state, run);
  }
  // By far the most common case, without the detour.
  for (let i = graph.downstreamStart[no]!; i < graph.downstreamStart[no + 1]!; i++) {
    const below = slotAt(base, graph.downstream[i]!);
    tasks.unmet[below]! -= 1;
    if (tasks.unmet[below] === 0 && tasks.state[below] === BLOCKED) moveTask(state, below, READY);
  }
}

/** With the last ordinary task of a closing run, what waited for that begins. */
function wakeIfIdle(state: State, run: RunRow): void {
  const { runs } = state;
  if (runs.phase[run] === OPEN || runs.unfinished[run]! > 0 || runs.versionOf(run).graph.closing === null) return;
  wakeClosing(viewOf(state, run));
}

/** The run is open again: all of its closing tasks that have not begun are what that makes of them. */
export function settleClosingTasks(state: State, run: RunRow): void {
  if (state.runs.versionOf(run).graph.closing === null) return;
  const view = viewOf(state, run);
  decideClosingAnew(view, allClosers(view), (slot) => hasOwnState(state, slot));
}

/** These tasks of an open run are to run again, or for the first time: what their upstream makes of them, and all behind. */
export function settleAnew(state: State, run: RunRow, tasks: readonly number[]): void {
  decideAnew(viewOf(state, run), tasks, (slot) => hasOwnState(state, slot));
}

/**
 * Somebody says what the task is. Where that is *skipped*, the short ways of a plain graph end: they leave most counts alone, which
 * are therefore taken anew.
 */
export function markTask(state: State, slot: TaskSlot, to: number, facts: string | null): void {
  const { tasks, runs } = state;
  const run = tasks.run[slot]!;
  const isFirst = to === SKIPPED && !runs.has(run, HAS_SKIPPED);
  if (isFirst) {
    runs.flags[run]! |= HAS_SKIPPED;
    if (runs.versionOf(run).graph.isPlain) recountAll(viewOf(state, run));
  }
  const no = tasks.no[slot]!;
  const known = facts === null ? undefined : runs.factsOf(run);
  decideMarked(
    viewOf(state, run),
    no,
    to,
    () => known?.setTask(no, facts!),
    (other) => hasOwnState(state, other),
  );
}

export function viewOf(state: State, run: RunRow): RunTasksView {
  const { tasks, runs } = state;
  const { graph } = runs.versionOf(run);
  return {
    graph,
    isPlain: graph.isPlain && !runs.has(run, HAS_SKIPPED),
    columns: tasks,
    base: runs.base[run]!,
    facts: runs.facts.get(run),
    standing: standingOf(state, run),
    maps: runs.mapsOf(run),
    mayExpand: (placeholder) => watchMap(state, run, placeholder),
    move: (slot, to) => moveTask(state, slot, to),
  };
}

/** An attempt whose task is to have another was followed by a retry, or will be: by policy or by hand, and whatever stops it. */
export function retriesOf({ tasks }: State, slot: TaskSlot): number {
  const code = tasks.state[slot]!;
  const attemptNo = tasks.attemptNo[slot]! - (tasks.notes.get(slot)?.endedBeside ?? 0);
  if (attemptNo === 0) return 0;
  // It failed without the attempt that it was to have.
  if (IS_GIVEN_UP[code] === 1 && tasks.notes.get(slot)?.expired !== undefined) return attemptNo;
  const hasEnded = HAS_ENDED[code] === 1 && code !== UPSTREAM_FAILED;
  const wasStopped = code === CANCELLED && tasks.retryAt[slot] === 0 && tasks.endedFence[slot] === tasks.fence[slot];
  const isLast = HOLDS_CLAIM[code] === 1 || hasEnded || wasStopped;
  return tasks.cleared[slot] === 0 && isLast ? attemptNo - 1 : attemptNo;
}

function standingOf(state: State, run: RunRow): Standing {
  const { runs, tasks } = state;
  return {
    outcome: outcomeOf(runs.outcome[run]!),
    isForced: runs.has(run, FORCED),
    isBusy: runs.unfinished[run]! > 0,
    hadBegun: (slot) => hasOwnState(state, slot) && tasks.attemptNo[slot]! > 0,
    retriesOf: (slot) => (slot === null ? (runs.notes.get(run)?.reopens ?? 0) : retriesOf(state, slot)),
    slowOf: (slot) =>
      (slot === null ? runs.notes.get(run)?.slowTimes : tasks.notes.get(slot)?.slowAttempts?.length) ?? 0,
  };
}

/** The run is closed: what has not begun never will, but for what closes it (I42). Tells which tasks these are. */
export function cancelUnbegun(state: State, run: RunRow): number[] {
  const cancelled: number[] = [];
  forEachSlot(state, run, (slot) => {
    if (isClosingTask(state, slot) && !state.runs.has(run, FORCED)) return;
    const at = state.tasks.state[slot]!;
    if (AWAITS_ATTEMPT[at] === 0) return;
    moveTask(state, slot, CANCELLED);
    cancelled.push(state.tasks.no[slot]!);
  });
  return cancelled;
}

/** The run's outcome is fixed, and these tasks were cancelled with it: what closes the run goes on from there. */
export function beginClosing(state: State, run: RunRow, cancelled: readonly number[]): void {
  const { closing } = state.runs.versionOf(run).graph;
  const ended = state.runs.mapsOf(run) === null ? [] : summariseAll(viewOf(state, run));
  if (closing === null) return;
  const view = viewOf(state, run);
  for (const no of [...cancelled, ...ended]) settleClosing(view, no);
  // What was to be made of a map that has not expanded has nothing to do.
  if (view.maps !== null) for (const no of allClosers(view)) if (view.maps.waitsFor(no)) decideCloser(view, no);
  wakeClosing(view);
}
