/**
 * What a teardown, an undo or a hook becomes. Each waits until the tasks that it awaits have ended, successfully or not;
 * some also wait for the outcome of the run. A pure function of the states of other tasks and of the phase and outcome of
 * the run (I33).
 */

import { type ClosingTask, isRepeating } from '../model/dag/closing-plan.ts';
import type { HookEvent } from '../model/dag/spec.ts';
import type { TaskSlot } from '../model/ids.ts';
import { BLOCKED, CANCELLED, COUNTS_AS_FAILED, READY, SKIPPED, SUCCEEDED } from '../model/task/task-states.ts';
import { resolveMap } from './map/resolve.ts';
import { nearest, type RunTasksView, slotIn, specIn } from './run-tasks-view.ts';

/** How often that has happened which this hook runs for. */
export function timesOf(view: Pick<RunTasksView, 'graph' | 'base' | 'maps' | 'standing'>, no: number): number {
  const { of, on } = view.graph.closing!.get(specIn(view, no)).hook!;
  const slot = of === null ? null : slotIn(view, nearest(view, no, of));
  return on === 'retry' ? view.standing.retriesOf(slot) : view.standing.slowOf(slot);
}

export function closingVerdict(view: RunTasksView, no: number): number {
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
function isWantedAfter({ columns, standing }: RunTasksView, slot: TaskSlot, on: HookEvent): boolean {
  if (on === 'retry' || on === 'slow') return false;
  const code = columns.state[slot]!;
  if (on === 'success') return code === SUCCEEDED;
  if (on === 'failure') return COUNTS_AS_FAILED[code] === 1;
  return code === SUCCEEDED || COUNTS_AS_FAILED[code] === 1 || (code === CANCELLED && standing.hadBegun(slot));
}
