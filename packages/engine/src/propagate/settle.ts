/**
 * What the end of a task means for the tasks downstream: computed from counts, at the cost of its out-degree; nothing is
 * rescanned (I30). The same function serves the live engine, loads and readers, on columns of the task table or of a derived
 * run.
 */

import type { TaskSlot } from '../model/ids.ts';
import {
  BLOCKED,
  CANCELLED,
  EXPANDED,
  FAILED,
  IS_TERMINAL,
  READY,
  SKIPPED,
  SUCCEEDED,
  UPSTREAM_FAILED,
} from '../model/task/task-states.ts';
import { slotAt } from '../tables/task/task-table.ts';
import { closersBehind } from './closers.ts';
import { decideCloser, decideClosingAnew, settleClosing } from './closing.ts';
import { evaluate, isCloser, isExpanded } from './evaluate.ts';
import { tally } from './map/tally.ts';
import { countsAs } from './ordinary-verdict.ts';
import { hasEnded, nearest, type RunTasksView, resetCounts, slotIn, specIn, visitNear } from './run-tasks-view.ts';

/** Decides those tasks that wait for nothing. */
export function settleRoots(view: RunTasksView): void {
  const { graph } = view;
  for (let i = 0; i < graph.roots.length; i++) decideAndSettle(view, graph.roots[i]!);
  for (const no of graph.maps?.knownAtStart ?? []) decideAndSettle(view, no);
}

export function decideAndSettle(view: RunTasksView, no: number): void {
  if (view.columns.state[slotIn(view, no)] === BLOCKED && decide(view, no)) settle(view, no);
}

/** The task has ended: those behind it become ready, or will never run, and so on. */
export function settle(view: RunTasksView, from: number): void {
  const { graph, columns, maps } = view;
  const stack = [from];
  const look = (below: number) => {
    if (columns.state[slotIn(view, below)] === BLOCKED && decide(view, below)) stack.push(below);
  };
  for (let no = stack.pop(); no !== undefined; no = stack.pop()) {
    const [from, spec] = [no, specIn(view, no)];
    // It has run, or was marked, without them.
    if (graph.befores.size > 0 && hasEnded(columns.state[slotIn(view, no)]!)) skipBefores(view, no);
    if (maps !== null) {
      const placeholders = tally(view, no, 1);
      if (graph.closing !== null && view.isQuiet === undefined) {
        for (const placeholder of placeholders) settleClosing(view, placeholder);
      }
    }
    for (let i = graph.downstreamStart[spec]!; i < graph.downstreamStart[spec + 1]!; i++) {
      const belowSpec = graph.downstream[i]!;
      const countAndLook = (below: number) => {
        count(view, from, below, belowSpec, 1);
        look(below);
      };
      if (maps === null) countAndLook(belowSpec);
      else visitNear(view, no, belowSpec, countAndLook);
    }
    for (const below of graph.behind.get(spec) ?? []) visitNear(view, no, below, look);
    for (const below of graph.maps?.fed.get(spec) ?? []) visitNear(view, no, below, look);
    if (graph.closing !== null && view.isQuiet === undefined) settleClosing(view, no);
    view.unheard?.push(no);
  }
}

/**
 * These tasks are as if they had never run: they, and whatever behind them has no state of its own, are decided anew. The same
 * as what a load makes of the rows.
 */
export function decideAnew(
  view: RunTasksView,
  tasks: readonly number[],
  hasOwnState: (slot: TaskSlot) => boolean,
): void {
  const { graph, columns, base, move, maps } = view;
  const { closing } = graph;
  const ordinary = closing === null ? tasks : tasks.filter((no) => !closing.has(specIn(view, no)));
  const unheard: number[] = [];
  const quiet: RunTasksView = { ...view, isQuiet: true, unheard };
  if (maps !== null) {
    const opened = reopen(view, ordinary, hasOwnState);
    for (const no of opened) decideAndSettle(quiet, no);
    return decideClosers(view, tasks, [...opened, ...unheard], hasOwnState);
  }
  const touched = graph.touchedBy(ordinary);
  const open = touched.filter((no) => !hasOwnState(slotAt(base, no)));
  for (const no of open) if (columns.state[slotAt(base, no)] !== BLOCKED) move(slotAt(base, no), BLOCKED);
  for (const no of touched) {
    resetCounts(columns, slotAt(base, no), graph.upstreamCount[no]!);
    for (const up of graph.needs[no]!)
      if (IS_TERMINAL[columns.state[slotAt(base, up)]!] === 1) count(view, up, no, no, 1);
  }
  for (const no of open) decideAndSettle(quiet, no);
  decideClosers(view, tasks, touched, hasOwnState);
}

/** After all others: what closes the run and waits for one of these. */
export function decideClosers(
  view: RunTasksView,
  tasks: readonly number[],
  touched: readonly number[],
  hasOwnState: (slot: TaskSlot) => boolean,
): void {
  const { closing } = view.graph;
  if (closing === null) return;
  decideClosingAnew(view, closersBehind(view, [...tasks, ...touched]), hasOwnState);
}

/**
 * The same where there are maps: what these ends have counted is taken back, and so on for all that was decided by it. Costs what
 * it undoes, where a rescan would cost the size of the maps. Answers with what is to be decided anew.
 */
export function reopen(
  view: RunTasksView,
  tasks: readonly number[],
  hasOwnState: (slot: TaskSlot) => boolean,
): number[] {
  const { graph, columns, move } = view;
  const [opened, stack] = [new Set<number>(), [...tasks]];
  const mayOpen = (no: number) => {
    const slot = slotIn(view, no);
    const at = columns.state[slot]!;
    if (at === BLOCKED) return mayOpenBefores(no);
    if (at === EXPANDED || hasOwnState(slot) || isExpanded(view, no)) return;
    stack.push(no);
  };
  /** It waits for those: whether it still does is decided anew. */
  const mayOpenBefores = (no: number) => {
    for (const spec of graph.befores.get(specIn(view, no)) ?? []) {
      const before = nearest(view, no, spec);
      const slot = slotIn(view, before);
      if (spec !== graph.runBefore && columns.state[slot] === READY && !hasOwnState(slot)) stack.push(before);
    }
  };
  for (let no = stack.pop(); no !== undefined; no = stack.pop()) {
    if (opened.has(no)) continue;
    const slot = slotIn(view, no);
    const [from, at] = [no, columns.state[slot]!];
    if (isExpanded(view, no)) {
      // Stopped with its run while its instances were on their way: they go on.
      if (at === CANCELLED) move(slot, EXPANDED);
      continue;
    }
    opened.add(no);
    const spec = specIn(view, no);
    for (const before of graph.befores.get(spec) ?? []) mayOpen(nearest(view, no, before));
    if (graph.isBefore(spec)) {
      for (const below of graph.behind.get(spec) ?? []) {
        visitNear(view, no, below, (other) => {
          if (columns.state[slotIn(view, other)] === BLOCKED) opened.add(other);
        });
      }
    }
    if (hasEnded(at)) {
      tally(view, no, -1);
      for (let i = graph.downstreamStart[spec]!; i < graph.downstreamStart[spec + 1]!; i++) {
        const belowSpec = graph.downstream[i]!;
        visitNear(view, no, belowSpec, (below) => {
          count(view, from, below, belowSpec, -1);
          mayOpen(below);
        });
      }
      for (const below of graph.behind.get(spec) ?? []) visitNear(view, no, below, mayOpen);
      for (const below of graph.maps?.fed.get(spec) ?? []) visitNear(view, no, below, mayOpen);
    }
    if (at !== BLOCKED) move(slot, BLOCKED);
  }
  return [...opened];
}

/**
 * Somebody says what this task is; it has a state of its own from here on. What was decided because of it is decided anew. What it
 * left before is told of only after that was taken back: a short circuit that was shut takes back what a shut one has counted.
 */
export function decideMarked(
  view: RunTasksView,
  no: number,
  to: number,
  tellFacts: () => void,
  hasOwnState: (slot: TaskSlot) => boolean,
): void {
  const { columns, move, maps } = view;
  const slot = slotIn(view, no);
  if (maps === null) {
    if (columns.state[slot] !== BLOCKED) move(slot, BLOCKED);
    tellFacts();
    move(slot, to);
    return decideAnew(view, [no], hasOwnState);
  }
  const opened = reopen(view, [no], (other) => other !== slot && hasOwnState(other));
  tellFacts();
  const unheard: number[] = [];
  const quiet: RunTasksView = { ...view, isQuiet: true, unheard };
  move(slot, to);
  settle(quiet, no);
  for (const other of opened) if (other !== no) decideAndSettle(quiet, other);
  decideClosers(view, [no], [...opened, ...unheard], hasOwnState);
}

/** Counts what is upstream of all tasks of a dag without maps anew, and decides nothing. */
export function recountAll(view: RunTasksView): void {
  const { graph, columns, base } = view;
  for (let no = 0; no < graph.taskCount; no++) {
    if (graph.closing?.has(no)) continue;
    resetCounts(columns, slotAt(base, no), graph.upstreamCount[no]!);
    for (const up of graph.needs[no]!)
      if (IS_TERMINAL[columns.state[slotAt(base, up)]!] === 1) count(view, up, no, no, 1);
  }
}

/** Counts what is upstream of one task anew, and decides nothing. It is in no map. */
export function recount(view: RunTasksView, no: number): void {
  const { graph, columns, maps } = view;
  const slot = slotIn(view, no);
  resetCounts(columns, slot, graph.upstreamCount[no]!);
  const countEnded = (up: number) => {
    if (IS_TERMINAL[columns.state[slotIn(view, up)]!] === 1) count(view, up, no, no, 1);
  };
  for (const up of graph.needs[no]!) {
    const expansion = maps?.expansionOf(up);
    if (expansion === undefined || expansion.total === 0) countEnded(up);
    else {
      // For the mapped task each of its instances, those to come included.
      columns.unmet[slot]! += expansion.tallies[expansion.group.placeOf.get(up)!]!.size - 1;
      maps!.visit(up, (instance) => {
        if (!isExpanded(view, instance)) countEnded(instance);
      });
    }
  }
}

/** Counts an edge, once, when the task above has ended; or takes it back. Behind a cancelled task nothing is decided any more. */
function count(view: RunTasksView, from: number, below: number, belowSpec: number, by: 1 | -1): void {
  const { columns } = view;
  const slot = slotIn(view, below);
  const as = countsAs(view, from, belowSpec);
  if (as === CANCELLED) return;
  columns.unmet[slot]! -= by;
  if (as === SUCCEEDED) columns.upSucceeded[slot]! += by;
  else if (as === FAILED) columns.upFailed[slot]! += by;
  else if (as === UPSTREAM_FAILED) columns.upUpstreamFailed[slot]! += by;
  else if (as === SKIPPED) columns.upSkipped[slot]! += by;
}

/** True when the task has ended with it. A closing task has its own way to end; with `isQuiet` it is looked at later. */
function decide(view: RunTasksView, no: number): boolean {
  if (isCloser(view, no)) {
    if (view.isQuiet === undefined) decideCloser(view, no);
    return false;
  }
  if (!evaluate(view, no)) return false;
  skipBefores(view, no);
  return true;
}

/** What stood before this one alone is not needed any more; the run's own is of use to others. */
function skipBefores(view: RunTasksView, no: number): void {
  const { graph, columns, move } = view;
  for (const spec of graph.befores.get(specIn(view, no)) ?? []) {
    const before = nearest(view, no, spec);
    const slot = slotIn(view, before);
    if (spec === graph.runBefore || columns.state[slot] !== BLOCKED) continue;
    move(slot, SKIPPED);
    tally(view, before, 1);
  }
}
