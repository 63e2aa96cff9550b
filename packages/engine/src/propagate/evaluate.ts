/**
 * One evaluator for all tasks of a run. It computes what a blocked task becomes, and moves it. The rules are in
 * `ordinary-verdict.ts` and `closing-verdict.ts`; which tasks to look at next is decided in `settle.ts` and `closing.ts`.
 */
import { BLOCKED, IS_TERMINAL } from '../model/task/task-states.ts';
import { closingVerdict } from './closing-verdict.ts';
import { ordinaryVerdict } from './ordinary-verdict.ts';
import { type RunTasksView, slotIn, specIn } from './run-tasks-view.ts';

/** A teardown, an undo or a hook. */
export function isCloser(view: Pick<RunTasksView, 'graph' | 'maps'>, no: number): boolean {
  const { closing } = view.graph;
  return closing !== null && closing.has(specIn(view, no));
}

/** Decides a task that is blocked, if that can be told. True when it has ended with it. */
export function evaluate(view: RunTasksView, no: number): boolean {
  const to = isCloser(view, no) ? closingVerdict(view, no) : ordinaryVerdict(view, no);
  if (to === BLOCKED) return false;
  view.move(slotIn(view, no), to);
  return IS_TERMINAL[to] === 1;
}

/** Its map has become instances. */
export function isExpanded({ maps }: Pick<RunTasksView, 'maps'>, no: number): boolean {
  return (maps?.expansionOf(no)?.total ?? 0) > 0;
}
