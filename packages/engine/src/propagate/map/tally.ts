/** The combined state of all instances of a mapped task. Its placeholder shows it when all have ended. */

import {
  CANCELLED,
  COUNTS_AS_FAILED,
  EXPANDED,
  FAILED,
  SKIPPED,
  SUCCEEDED,
  UPSTREAM_FAILED,
} from '../../model/task/task-states.ts';
import type { Expansion, Tally } from '../../tables/map/run-maps.ts';
import { hasEnded, type RunTasksView, slotIn, specIn } from '../run-tasks-view.ts';

/**
 * The task has ended, or is to be decided anew: each map around it counts that, once. Answers with the placeholders that have
 * ended with it, from the inside out.
 */
export function tally(view: RunTasksView, no: number, by: 1 | -1): readonly number[] {
  if (no < view.graph.taskCount) return NONE;
  const maps = view.maps!;
  const spec = specIn(view, no);
  const code = view.columns.state[slotIn(view, no)]!;
  const counts = hasEnded(code);
  // One that is cancelled with its run counts for nobody, but may have been the last to be waited for.
  if (!counts && (by < 0 || code !== CANCELLED)) return NONE;
  let ended: number[] | null = null;
  for (let around: Expansion | null = maps.holding(no)!; around !== null; around = around.parent) {
    const all = around.tallies[around.group.placeOf.get(spec)!]!;
    if (counts) add(all, code, by);
    const placeholder = maps.placeholderOf(around, spec);
    if (by < 0) {
      reopen(view, placeholder);
      continue;
    }
    if (!summarise(view, around, placeholder, all)) continue;
    ended ??= [];
    ended.push(placeholder);
  }
  return ended ?? NONE;
}

const NONE: readonly number[] = [];

/** One of its instances is to be decided anew. */
function reopen(view: RunTasksView, placeholder: number): void {
  const slot = slotIn(view, placeholder);
  if (hasEnded(view.columns.state[slot]!)) view.move(slot, EXPANDED);
}

/** The run is closed: no instance comes any more. Answers with the placeholders that have ended with that, from the inside out. */
export function summariseAll(view: RunTasksView): readonly number[] {
  const maps = view.maps!;
  const ended: number[] = [];
  for (const expansion of maps.expansions.toReversed()) {
    if (expansion.total === 0) continue;
    for (const spec of expansion.group.members) {
      const placeholder = maps.placeholderOf(expansion, spec);
      const all = expansion.tallies[expansion.group.placeOf.get(spec)!]!;
      if (summarise(view, expansion, placeholder, all)) ended.push(placeholder);
    }
  }
  return ended;
}

/** Looks at a placeholder that has expanded. True when it has ended with that. */
export function summariseOne(view: RunTasksView, placeholder: number): boolean {
  const expansion = view.maps!.expansionOf(placeholder)!;
  return summarise(
    view,
    expansion,
    placeholder,
    expansion.tallies[expansion.group.placeOf.get(specIn(view, placeholder))!]!,
  );
}

function add(all: Tally, code: number, by: 1 | -1): void {
  if (code === SUCCEEDED) all.succeeded += by;
  else if (COUNTS_AS_FAILED[code] === 1) all.failed += by;
  else if (code === UPSTREAM_FAILED) all.upstreamFailed += by;
  else all.skipped += by;
}

export function openOf({ size, succeeded, failed, upstreamFailed, skipped }: Tally): number {
  return size - succeeded - failed - upstreamFailed - skipped;
}

/** True when it has ended. One that was cancelled with its run stays so. */
function summarise(view: RunTasksView, { unfolded }: Expansion, no: number, all: Tally): boolean {
  const slot = slotIn(view, no);
  const at = view.columns.state[slot]!;
  if (at !== EXPANDED && !hasEnded(at)) return false;
  const to = shown(view, no, unfolded, all);
  if (at === to) return false;
  view.move(slot, to);
  return to !== EXPANDED;
}

/** In a run that is closed the instances that are there are all that there will be. */
function shown(view: RunTasksView, no: number, unfolded: number, all: Tally): number {
  if (openOf(all) === 0) return summaryOf(all);
  const { outcome, isForced } = view.standing;
  if (outcome === null || all.over < unfolded) return EXPANDED;
  if (isForced || view.graph.closing?.has(specIn(view, no)) !== true) return CANCELLED;
  return all.failed > 0 ? FAILED : all.succeeded > 0 ? SUCCEEDED : SKIPPED;
}

function summaryOf({ size, failed, upstreamFailed, skipped }: Tally): number {
  if (failed > 0) return FAILED;
  if (upstreamFailed > 0) return UPSTREAM_FAILED;
  return skipped === size ? SKIPPED : SUCCEEDED;
}
