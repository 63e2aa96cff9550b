/** The tasks of one run as decisions see them: in the table of live tasks, or in separate columns for loads and readers. */

import type { Graph } from '../model/dag/graph.ts';
import type { TaskSlot } from '../model/ids.ts';
import type { RunOutcome } from '../model/run/phase.ts';
import type { RunFacts } from '../model/task/facts.ts';
import { HAS_ENDED } from '../model/task/task-states.ts';
import type { RunMaps } from '../tables/map/run-maps.ts';
import { slotAt, type TaskTable } from '../tables/task/task-table.ts';

export type Columns = Pick<
  TaskTable,
  'state' | 'unmet' | 'upSucceeded' | 'upFailed' | 'upUpstreamFailed' | 'upSkipped'
>;

/** The tasks of one run, by their numbers. */
export interface RunTasksView {
  readonly graph: Graph;
  readonly columns: Columns;
  /** Where its first task is. */
  readonly base: TaskSlot;
  readonly facts: RunFacts | undefined;
  /** The graph is plain, and nobody has marked a task of it as skipped. */
  readonly isPlain: boolean;
  /** Looked at by closing tasks alone. */
  readonly standing: Standing;
  /** Closing tasks are not told of ends: they are decided all at once, later. */
  readonly isQuiet?: true;
  /** With `isQuiet`: what has ended meanwhile, for them to hear later. */
  readonly unheard?: number[];
  /** Null in a dag without maps: there a task's number is its number in the spec. */
  readonly maps: RunMaps | null;
  /** Moves a task; the one that writes `state`. */
  readonly move: (slot: TaskSlot, to: number) => void;
  /** The map that this placeholder waits for can be expanded. */
  readonly mayExpand?: (placeholder: number) => void;
}

export function slotIn({ graph, base, maps }: Pick<RunTasksView, 'graph' | 'base' | 'maps'>, no: number): TaskSlot {
  return maps === null || no < graph.taskCount ? slotAt(base, no) : maps.slotOf(no);
}

export function specIn({ graph, maps }: Pick<RunTasksView, 'graph' | 'maps'>, no: number): number {
  return maps === null || no < graph.taskCount ? no : maps.specOf(no);
}

/** Task `spec` as this one sees it: in the nearest scope around both. */
export function nearest({ maps }: Pick<RunTasksView, 'maps'>, no: number, spec: number): number {
  return maps === null ? spec : maps.near(no, spec);
}

/** Visits task `spec` as this one sees it, and all that came of it. */
export function visitNear(
  { maps }: Pick<RunTasksView, 'maps'>,
  no: number,
  spec: number,
  visit: (no: number) => void,
): void {
  if (maps === null) visit(spec);
  else maps.visit(maps.near(no, spec), visit);
}

/** A cancelled task has not: it was stopped when its run was closed, and decides nothing any more. */
export function hasEnded(code: number): boolean {
  return HAS_ENDED[code] === 1;
}

export function resetCounts(columns: Columns, slot: TaskSlot, upstreamCount: number): void {
  columns.unmet[slot] = upstreamCount;
  columns.upSucceeded[slot] = 0;
  columns.upFailed[slot] = 0;
  columns.upUpstreamFailed[slot] = 0;
  columns.upSkipped[slot] = 0;
}

/** How far the run is, as its closing tasks see it. */
export interface Standing {
  /** Null while the run is open. */
  readonly outcome: RunOutcome | null;
  /** Somebody wants its end at once: no closing task begins any more. */
  readonly isForced: boolean;
  /** An ordinary task has not ended yet. */
  readonly isBusy: boolean;
  /** Whether a task that was cancelled had begun. */
  readonly hadBegun: (slot: TaskSlot) => boolean;
  /** How often a task was or will be retried, by policy or manually; null: how often the run was reopened. */
  readonly retriesOf: (slot: TaskSlot | null) => number;
  /** How many attempts of a task were found to be slow; null: how often the run was. */
  readonly slowOf: (slot: TaskSlot | null) => number;
}

export const OPEN_STANDING: Standing = {
  outcome: null,
  isForced: false,
  isBusy: true,
  hadBegun: () => false,
  retriesOf: () => 0,
  slowOf: () => 0,
};
