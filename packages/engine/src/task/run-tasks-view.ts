/** The tasks of one run as decisions see them: over the table of live ones, or over columns of their own for loads and readers. */
import type { Graph } from '../dag/graph.ts';
import type { RunMaps } from '../map/run-maps.ts';
import type { Standing } from './closing.ts';
import type { RunFacts } from './facts.ts';
import { CANCELLED, SUCCEEDED, type TaskTable } from './task-table.ts';

export type Columns = Pick<
  TaskTable,
  'state' | 'unmet' | 'upSucceeded' | 'upFailed' | 'upUpstreamFailed' | 'upSkipped'
>;

/** The tasks of one run, by their numbers. */
export interface RunTasksView {
  readonly graph: Graph;
  readonly columns: Columns;
  /** Where its first task is. */
  readonly base: number;
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
  readonly move: (slot: number, to: number) => void;
  /** The map that this placeholder waits for can be expanded. */
  readonly mayExpand?: (placeholder: number) => void;
}

export function slotIn({ graph, base, maps }: Pick<RunTasksView, 'graph' | 'base' | 'maps'>, no: number): number {
  return maps === null || no < graph.taskCount ? base + no : maps.slotOf(no);
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
  return code >= SUCCEEDED && code !== CANCELLED;
}

export function resetCounts(columns: Columns, slot: number, upstreamCount: number): void {
  columns.unmet[slot] = upstreamCount;
  columns.upSucceeded[slot] = 0;
  columns.upFailed[slot] = 0;
  columns.upUpstreamFailed[slot] = 0;
  columns.upSkipped[slot] = 0;
}
