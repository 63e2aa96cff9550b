/**
 * Expands a map into its instances, and removes them again: in the live table, and in separate columns for loads and
 * readers. The counts are the same whether the instances come all at once or gradually.
 */

import type { TaskSlot } from '../../model/ids.ts';
import { BLOCKED, EXPANDED } from '../../model/task/task-states.ts';
import { type Expansion, numberIn, type RunMaps, takePages } from '../../tables/map/run-maps.ts';
import { type RunTasksView, slotIn, visitNear } from '../run-tasks-view.ts';
import { decideAndSettle, decideClosers, reopen } from '../settle.ts';

interface NewExpansion {
  readonly group: number;
  readonly scope: number;
  readonly firstNo: number;
  readonly total: number;
}

/** Its members are expanded: whatever needs one of them from outside waits for all instances of it from now on. */
export function expandMap(view: RunTasksView, { group, scope, firstNo, total }: NewExpansion): Expansion {
  const maps = view.maps!;
  const expansion = maps.add(group, scope, firstNo, total);
  if (total === 0) return expansion;
  for (const spec of expansion.group.members) {
    const placeholder = maps.placeholderOf(expansion, spec);
    widen(view, expansion, placeholder, spec, total - 1);
    view.move(slotIn(view, placeholder), EXPANDED);
  }
  return expansion;
}

/** Those outside that need this member wait for so many more; and the maps around have so many more of it. */
function widen(view: RunTasksView, expansion: Expansion, placeholder: number, spec: number, by: number): void {
  const { graph, columns } = view;
  for (let around = expansion.parent; around !== null; around = around.parent) {
    around.tallies[around.group.placeOf.get(spec)!]!.size += by;
  }
  if (by === 0) return;
  for (let i = graph.downstreamStart[spec]!; i < graph.downstreamStart[spec + 1]!; i++) {
    const below = graph.downstream[i]!;
    // In the same instance one waits for one.
    if (expansion.group.placeOf.has(below)) continue;
    visitNear(view, placeholder, below, (no) => {
      columns.unmet[slotIn(view, no)]! += by;
    });
  }
}

/**
 * Instances up to this one are there. Each begins as a copy of its placeholder, which goes on counting what ends outside of the
 * map: so the later ones know what they were not there to hear. Answers with the numbers from which and to which they are new.
 */
export function unfoldMap(
  view: RunTasksView,
  expansion: Expansion,
  until: number,
  allocate: (length: number, firstNo: number) => TaskSlot,
): { readonly from: number; readonly to: number } {
  const { columns } = view;
  const maps = view.maps!;
  const { members } = expansion.group;
  const from = expansion.unfolded;
  takePages(expansion, until, allocate);
  expansion.unfolded = until;
  for (const spec of members) {
    const model = slotIn(view, maps.placeholderOf(expansion, spec));
    for (let i = from; i < until; i++) {
      const slot = maps.slotOf(numberIn(expansion, i, spec));
      columns.state[slot] = BLOCKED;
      columns.unmet[slot] = columns.unmet[model]!;
      columns.upSucceeded[slot] = columns.upSucceeded[model]!;
      columns.upFailed[slot] = columns.upFailed[model]!;
      columns.upUpstreamFailed[slot] = columns.upUpstreamFailed[model]!;
      columns.upSkipped[slot] = columns.upSkipped[model]!;
    }
  }
  const { firstNo } = expansion;
  return { from: firstNo + from * members.length, to: firstNo + until * members.length };
}

/**
 * The map is as if it had never expanded; what was decided by its instances is decided anew, once `leave` has taken their slots.
 * They have no attempt that runs.
 */
export function removeMap(
  view: RunTasksView,
  expansion: Expansion,
  hasOwnState: (slot: TaskSlot) => boolean,
  leave: (slots: readonly TaskSlot[]) => void,
): void {
  const maps = view.maps!;
  const unheard: number[] = [];
  const quiet: RunTasksView = { ...view, isQuiet: true, unheard };
  const opened = expansion.total === 0 ? [] : foldMap(view, maps, expansion, hasOwnState, leave);
  maps.remove(expansion);
  for (const no of opened) decideAndSettle(quiet, no);
  const touched = [...opened];
  for (const spec of expansion.group.members) {
    const placeholder = maps.placeholderOf(expansion, spec);
    const anew = expansion.total === 0 ? reopen(view, [placeholder], hasOwnState) : [placeholder];
    for (const no of anew) decideAndSettle(quiet, no);
    touched.push(placeholder, ...anew);
  }
  decideClosers(view, [], [...touched, ...unheard], hasOwnState);
}

/** Takes back all that its instances have counted. Answers with what outside of it has to be decided anew. */
function foldMap(
  view: RunTasksView,
  maps: RunMaps,
  expansion: Expansion,
  hasOwnState: (slot: TaskSlot) => boolean,
  leave: (slots: readonly TaskSlot[]) => void,
): number[] {
  const inside = maps.within(expansion);
  const gone = new Set<number>();
  for (const { firstNo, unfolded, group } of inside) {
    for (let offset = 0; offset < unfolded * group.members.length; offset++) gone.add(firstNo + offset);
  }
  const opened = reopen(view, [...gone], hasOwnState).filter((no) => !gone.has(no));
  leave([...gone].map((no) => slotIn(view, no)));
  // From the inside out: each placeholder is one again, whatever it was when its map expanded.
  for (const one of inside.reverse()) {
    for (const spec of one.group.members) {
      const placeholder = maps.placeholderOf(one, spec);
      widen(view, one, placeholder, spec, 1 - one.total);
      if (!gone.has(placeholder)) view.move(slotIn(view, placeholder), BLOCKED);
    }
  }
  return opened;
}
