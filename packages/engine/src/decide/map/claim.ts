/** The part of an assignment that depends on maps: which items the task is for, and where the outputs of earlier tasks are. */

import { IS_FAILURE, SUCCEEDED } from '../../model/task/task-states.ts';
import { picksOf, resolveMap } from '../../propagate/map/resolve.ts';
import { type RunTasksView, slotIn, specIn } from '../../propagate/run-tasks-view.ts';
import { type Expansion, numberIn } from '../../tables/map/run-maps.ts';
import type { MapPlace, NumberRange, SendAssignment, TaskOutputs } from '../effect.ts';

type Claim = Pick<SendAssignment, 'map' | 'succeededUpstream' | 'failedUpstream' | 'missingUpstream'>;

export function mappedClaim(view: RunTasksView, no: number): Claim {
  const maps = view.maps!;
  const [succeeded, failed, missing]: [number[], number[], number[]] = [[], [], []];
  const upstream: TaskOutputs[] = [];
  for (const spec of view.graph.seenBy(specIn(view, no))) {
    const up = maps.near(no, spec);
    const found = statesOf(view, up, spec);
    if (found.hasSucceeded) {
      succeeded.push(spec);
      upstream.push(outputsOf(view, up));
    }
    if (found.hasFailed) failed.push(spec);
    if (!found.hasSucceeded && !found.hasFailed) missing.push(spec);
  }
  const map = { places: placesOf(view, no), upstream };
  return { map, succeededUpstream: succeeded, failedUpstream: failed, missingUpstream: missing };
}

/** Where the outputs of a task are, for a task outside all maps; null if it has not succeeded. */
export function outputsFromOutside(view: RunTasksView, spec: number): TaskOutputs | null {
  return statesOf(view, spec, spec).hasSucceeded ? outputsOf(view, spec) : null;
}

function statesOf(view: RunTasksView, up: number, spec: number): { hasSucceeded: boolean; hasFailed: boolean } {
  const expansion = view.maps!.expansionOf(up);
  if (expansion !== undefined && expansion.total > 0) {
    const { succeeded, failed, upstreamFailed } = expansion.tallies[expansion.group.placeOf.get(spec)!]!;
    return { hasSucceeded: succeeded > 0, hasFailed: failed + upstreamFailed > 0 };
  }
  const code = view.columns.state[slotIn(view, up)]!;
  return {
    hasSucceeded: code === SUCCEEDED,
    hasFailed: IS_FAILURE[code] === 1,
  };
}

function outputsOf(view: RunTasksView, up: number): TaskOutputs {
  const maps = view.maps!;
  if (maps.waitsFor(up) === undefined) return { of: 'task', no: up };
  const ranges: NumberRange[] = [];
  const except: number[] = [];
  collect(view, up, ranges, except);
  return { of: 'instances', ranges, except };
}

function collect(view: RunTasksView, placeholder: number, ranges: NumberRange[], except: number[]): void {
  const maps = view.maps!;
  const expansion = maps.expansionOf(placeholder);
  if (expansion === undefined) return;
  const spec = specIn(view, placeholder);
  const [from, step] = [numberIn(expansion, 0, spec), expansion.group.members.length];
  if (maps.shape.chains[spec]!.length > expansion.group.depth + 1) {
    for (let i = 0; i < expansion.unfolded; i++) collect(view, from + i * step, ranges, except);
    return;
  }
  ranges.push({ from, step, count: expansion.total });
  const { succeeded, size } = expansion.tallies[expansion.group.placeOf.get(spec)!]!;
  if (succeeded === size) return;
  for (let i = 0; i < expansion.total; i++) {
    const no = from + i * step;
    if (i >= expansion.unfolded || view.columns.state[slotIn(view, no)] !== SUCCEEDED) except.push(no);
  }
}

/** The outermost map first. */
function placesOf(view: RunTasksView, no: number): MapPlace[] {
  const maps = view.maps!;
  const places: MapPlace[] = [];
  if (no < view.graph.taskCount) return places;
  let at = maps.holding(no)!;
  let index = Math.floor((no - at.firstNo) / at.group.members.length);
  for (;;) {
    places.unshift(placeIn(view, at, index));
    if (at.parent === null) return places;
    index = at.parentIndex;
    at = at.parent;
  }
}

function placeIn(view: RunTasksView, expansion: Expansion, index: number): MapPlace {
  const { group, total } = expansion;
  const maps = view.maps!;
  const placeholder = maps.placeholderOf(expansion, group.members[0]!);
  const found = resolveMap(view, placeholder);
  const picks = found.is === 'known' ? picksOf(group, found.lengths, index) : group.map.over.map(() => index);
  const sources = group.map.over.map((source) =>
    source.from === 'task' ? outputsOf(view, maps.near(placeholder, source.task)) : null,
  );
  return { group: group.no, index, total, picks, sources };
}
