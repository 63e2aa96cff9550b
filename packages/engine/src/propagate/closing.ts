/**
 * When teardowns, undos and hooks run. Each waits until what it awaits has ended, in whatever way; some wait for the run's
 * outcome as well. What they do then is a pure function of the states of others, of the run's phase and its outcome: the same
 * live, on load and for readers (D4, I33).
 */

import { type ClosingTask, isRepeating } from '../model/dag/closing-plan.ts';
import type { HookEvent } from '../model/dag/spec.ts';
import { RUN_OUTCOMES, type RunOutcome } from '../model/run/phase.ts';
import {
  BLOCKED,
  CANCELLED,
  COUNTS_AS_FAILED,
  EXPANDED,
  IS_TERMINAL,
  READY,
  SKIPPED,
  SUCCEEDED,
} from '../model/task/task-states.ts';
import { unmetOf, visitAwaiting } from './closers.ts';
import { resolveMap } from './map/resolve.ts';
import { summariseOne, tally } from './map/tally.ts';
import { nearest, type RunTasksView, slotIn, specIn } from './run-tasks-view.ts';

export function outcomeOf(code: number): RunOutcome | null {
  return RUN_OUTCOMES[code - 1] ?? null;
}

/** A task has ended, in whatever way, a placeholder with all its instances: the closing tasks that wait for it are decided. */
export function settleClosing(view: RunTasksView, from: number): void {
  const { columns } = view;
  const stack = [from];
  const hear = (below: number) => {
    const slot = slotIn(view, below);
    columns.unmet[slot]! -= 1;
    if (columns.state[slot] === BLOCKED && decide(view, below)) stack.push(below, ...tally(view, below, 1));
  };
  for (let no = stack.pop(); no !== undefined; no = stack.pop()) visitAwaiting(view, no, hear);
}

/** Looks at one closing task, as far as it has not begun. */
export function decideCloser(view: RunTasksView, no: number): void {
  if (view.columns.state[slotIn(view, no)] !== BLOCKED || !decide(view, no)) return;
  for (const placeholder of tally(view, no, 1)) settleClosing(view, placeholder);
  settleClosing(view, no);
}

/** The run's outcome is fixed, or its last ordinary task has ended: those that waited for that are decided. */
export function wakeClosing(view: RunTasksView): void {
  const { graph, maps } = view;
  const look = (no: number) => decideCloser(view, no);
  for (const { no } of graph.closing!.ofRun) {
    if (maps === null) look(no);
    else maps.visit(no, look);
  }
}

/** This task, or the run, is to be tried again or is slow: a hook that waits for that may run. */
export function wakeRepeating(view: RunTasksView, no: number | null): void {
  for (const hook of repeatingOf(view, no)) {
    if (view.columns.state[slotIn(view, hook)] === BLOCKED) decide(view, hook);
  }
}

/** The hooks that run each time that something happens to this task, or to the run. */
export function repeatingOf(view: Pick<RunTasksView, 'graph' | 'maps'>, no: number | null): readonly number[] {
  const { closing } = view.graph;
  if (no === null) return closing!.repeatingOf(null);
  return closing!.repeatingOf(specIn(view, no)).map((hook) => nearest(view, no, hook));
}

/** How often that has happened which this hook runs for. */
export function timesOf(view: Pick<RunTasksView, 'graph' | 'base' | 'maps' | 'standing'>, no: number): number {
  const { of, on } = view.graph.closing!.get(specIn(view, no)).hook!;
  const slot = of === null ? null : slotIn(view, nearest(view, no, of));
  return on === 'retry' ? view.standing.retriesOf(slot) : view.standing.slowOf(slot);
}

/** These closing tasks, of the states as they are: those without a state of their own are decided anew. */
export function decideClosingAnew(
  view: RunTasksView,
  closers: readonly number[],
  hasOwnState: (slot: number) => boolean,
): void {
  const { columns, move } = view;
  // A placeholder that has expanded is what its instances come to: looked at last, the inner ones first.
  const expanded = closers.filter((no) => isExpanded(view, no)).sort((a, b) => b - a);
  const open = closers.filter((no) => !isExpanded(view, no) && !hasOwnState(slotIn(view, no)));
  for (const no of open) {
    const slot = slotIn(view, no);
    if (columns.state[slot] === BLOCKED) continue;
    tally(view, no, -1);
    move(slot, BLOCKED);
  }
  for (const no of expanded) {
    const slot = slotIn(view, no);
    if (columns.state[slot] !== EXPANDED) move(slot, EXPANDED);
  }
  for (const no of closers) columns.unmet[slotIn(view, no)] = unmetOf(view, no);
  for (const no of open) decideCloser(view, no);
  for (const no of expanded) if (summariseOne(view, no)) settleClosing(view, no);
}

function isExpanded({ maps }: RunTasksView, no: number): boolean {
  return (maps?.expansionOf(no)?.total ?? 0) > 0;
}

/** True when it has ended with it. */
function decide(view: RunTasksView, no: number): boolean {
  const to = verdictOn(view, no);
  if (to === BLOCKED) return false;
  view.move(slotIn(view, no), to);
  return IS_TERMINAL[to] === 1;
}

function verdictOn(view: RunTasksView, no: number): number {
  const { graph, columns, maps, standing } = view;
  if (standing.isForced) return CANCELLED;
  if (graph.isOutside?.[specIn(view, no)] === 1) return SKIPPED;
  if (maps?.waitsFor(no) !== undefined) return verdictOnPlaceholder(view, no);
  const task = graph.closing!.get(specIn(view, no));
  if (isRepeating(task) && timesOf(view, no) > 0) return READY;
  if (columns.unmet[slotIn(view, no)]! > 0) return BLOCKED;
  if (task.kind === 'undo') return verdictOnUndo(view, no, task);
  if (task.kind === 'hook') return verdictOnHook(view, no, task);
  const setups = task.teardown!;
  return setups.length === 0 || setups.some((up) => hasMade(view, no, up)) ? READY : SKIPPED;
}

/**
 * Of a map that has not expanded. Without an item there is nothing to close; but whoever waits for it waits by it for what it
 * awaits.
 */
function verdictOnPlaceholder(view: RunTasksView, no: number): number {
  if (view.columns.unmet[slotIn(view, no)]! > 0) return BLOCKED;
  if (view.standing.outcome !== null) return SKIPPED;
  const map = resolveMap(view, no);
  return map.is === 'open' || (map.is === 'known' && map.total > 0) ? BLOCKED : SKIPPED;
}

/** A setup has succeeded; of one that is mapped, an instance. */
function hasMade(view: RunTasksView, no: number, setup: number): boolean {
  const up = nearest(view, no, setup);
  const expansion = view.maps?.expansionOf(up);
  if (expansion === undefined || expansion.total === 0) return view.columns.state[slotIn(view, up)] === SUCCEEDED;
  return expansion.tallies[expansion.group.placeOf.get(setup)!]!.succeeded > 0;
}

/** Nothing is undone before nothing more is done. */
function verdictOnUndo(view: RunTasksView, no: number, { undoes }: ClosingTask): number {
  const { outcome, isBusy } = view.standing;
  if (outcome === null) return BLOCKED;
  if (outcome === 'succeeded') return SKIPPED;
  if (isBusy) return BLOCKED;
  return view.columns.state[slotIn(view, nearest(view, no, undoes!))] === SUCCEEDED ? READY : SKIPPED;
}

function verdictOnHook(view: RunTasksView, no: number, { hook }: ClosingTask): number {
  const { of, on } = hook!;
  if (of !== null) return isWantedAfter(view, slotIn(view, nearest(view, no, of)), on) ? READY : SKIPPED;
  const { outcome, isBusy } = view.standing;
  if (outcome === null) return BLOCKED;
  if (on === 'after') return isBusy ? BLOCKED : READY;
  return (on === 'success' && outcome === 'succeeded') || (on === 'failure' && outcome === 'failed') ? READY : SKIPPED;
}

/** The task has ended. */
function isWantedAfter({ columns, standing }: RunTasksView, slot: number, on: HookEvent): boolean {
  if (on === 'retry' || on === 'slow') return false;
  const code = columns.state[slot]!;
  if (on === 'success') return code === SUCCEEDED;
  if (on === 'failure') return COUNTS_AS_FAILED[code] === 1;
  return code === SUCCEEDED || COUNTS_AS_FAILED[code] === 1 || (code === CANCELLED && standing.hadBegun(slot));
}
