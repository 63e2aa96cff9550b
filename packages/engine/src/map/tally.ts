/** What has become of the instances of a mapped task, taken together: what its placeholder shows once all have ended. */
import { type Field, hasEnded, slotIn, specIn } from '../task/field.ts';
import { EXPANDED, FAILED, SKIPPED, STOPPED, SUCCEEDED, UPSTREAM_FAILED } from '../task/task-table.ts';
import type { Expansion, Tally } from './run-maps.ts';

/**
 * The task has ended, or is to be decided anew: each map around it counts that, once. Answers with the placeholders that have
 * ended with it, of those that are in no map themselves.
 */
export function tally(field: Field, no: number, by: 1 | -1): readonly number[] {
  if (no < field.graph.taskCount) return NONE;
  const maps = field.maps!;
  const spec = specIn(field, no);
  const code = field.columns.state[slotIn(field, no)]!;
  if (!hasEnded(code)) return NONE;
  let ended = NONE;
  for (let around: Expansion | null = maps.holding(no)!; around !== null; around = around.parent) {
    const all = around.tallies[around.group.placeOf.get(spec)!]!;
    add(all, code, by);
    const placeholder = maps.placeholderOf(around, spec);
    if (summarise(field, placeholder, all) && around.parent === null) ended = [placeholder];
  }
  return ended;
}

const NONE: readonly number[] = [];

function add(all: Tally, code: number, by: 1 | -1): void {
  if (code === SUCCEEDED) all.succeeded += by;
  else if (code === FAILED || code === STOPPED) all.failed += by;
  else if (code === UPSTREAM_FAILED) all.upstreamFailed += by;
  else all.skipped += by;
}

export function openOf({ size, succeeded, failed, upstreamFailed, skipped }: Tally): number {
  return size - succeeded - failed - upstreamFailed - skipped;
}

/** True when it has ended. One that was cancelled with its run stays so. */
function summarise(field: Field, no: number, all: Tally): boolean {
  const slot = slotIn(field, no);
  const at = field.columns.state[slot]!;
  if (at !== EXPANDED && !hasEnded(at)) return false;
  const to = openOf(all) > 0 ? EXPANDED : summaryOf(all);
  if (at === to) return false;
  field.move(slot, to);
  return to !== EXPANDED;
}

function summaryOf({ size, failed, upstreamFailed, skipped }: Tally): number {
  if (failed > 0) return FAILED;
  if (upstreamFailed > 0) return UPSTREAM_FAILED;
  return skipped === size ? SKIPPED : SUCCEEDED;
}
