/**
 * Which closing tasks wait for which others, by their numbers in a run. For each task that it awaits, a closing task waits
 * for the one in the nearest scope around both. If that is a map of its own, this is a placeholder, which has ended when all
 * its instances have.
 */

import { IS_TERMINAL } from '../model/task/task-states.ts';
import { nearest, type RunTasksView, slotIn, specIn } from './run-tasks-view.ts';

type Place = Pick<RunTasksView, 'graph' | 'maps'>;

/** Visits the closing tasks that wait for the end of this one. */
export function visitAwaiting({ graph, maps }: Place, no: number, visit: (closer: number) => void): void {
  const plan = graph.closing!;
  if (maps === null) {
    for (const below of plan.awaiting(no)) visit(below);
    return;
  }
  const spec = specIn({ graph, maps }, no);
  for (const below of plan.awaiting(spec)) {
    const [depth, common] = [maps.depthOf(no), maps.shape.commonDepth(below, spec)];
    // Those further out wait for the placeholder, not for its instances.
    if (common < depth) continue;
    // In the same map: the placeholder of the one waits for that of the other, and each instance for its own.
    if (common > depth) visit(maps.near(no, below));
    else maps.visit(maps.near(no, below), visit);
  }
}

/** How many of those that it awaits have not ended. Undos are asked in the order of `rankOf`: see `isEarly`. */
export function unmetOf(view: RunTasksView, no: number): number {
  const plan = view.graph.closing!;
  const { awaits, kind } = plan.get(specIn(view, no));
  let left = 0;
  for (const up of awaits) {
    const awaited = nearest(view, no, up);
    const isOver = IS_TERMINAL[view.columns.state[slotIn(view, awaited)]!] === 1;
    if (!isOver || (kind === 'undo' && isEarly(view, awaited))) left += 1;
  }
  return left;
}

/**
 * Whether this is an undo that ended before those that it awaits: a person marked it, or what is behind it was done again. Each
 * undo awaits only the nearest ones, so the next undo goes on only when the early one's turn has come (I30).
 */
export function isEarly(view: RunTasksView, no: number): boolean {
  return view.graph.closing!.isUndo(specIn(view, no)) && view.columns.unmet[slotIn(view, no)]! > 0;
}

/** Of all closing tasks, and of all that maps have made of them. */
export function allClosers({ graph, maps }: Place): number[] {
  const specs = graph.closing!.tasks.map(({ no }) => no);
  if (maps === null) return specs;
  const all: number[] = [];
  for (const spec of specs) maps.visit(spec, (no) => all.push(no));
  return all;
}

/** The placeholder that an instance comes from; null for a task of the spec. */
export function placeholderOf({ graph, maps }: Place, no: number): number | null {
  if (maps === null || no < graph.taskCount) return null;
  return maps.placeholderOf(maps.holding(no)!, maps.specOf(no));
}

/** All closing tasks that wait for one of these, for one that waits for them, and so on; and those of these that are some. */
export function closersBehind(place: Place, from: readonly number[]): number[] {
  const plan = place.graph.closing!;
  const [seen, stack] = [new Set<number>(), [...from]];
  for (let no = stack.pop(); no !== undefined; no = stack.pop()) {
    if (seen.has(no)) continue;
    seen.add(no);
    visitAwaiting(place, no, (closer) => stack.push(closer));
    // What came of it has not ended either.
    const placeholder = placeholderOf(place, no);
    if (placeholder !== null) stack.push(placeholder);
  }
  return [...seen].filter((no) => plan.has(specIn(place, no)));
}
