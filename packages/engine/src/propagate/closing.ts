/**
 * When teardowns, undos and hooks run. Each waits until the tasks that it awaits have ended, successfully or not; some also
 * wait for the outcome of the run. The result is a pure function of the states of other tasks and of the phase and outcome
 * of the run: the same live, on load and for readers (D4, I33).
 */
import type { TaskSlot } from '../model/ids.ts';
import { RUN_OUTCOMES, type RunOutcome } from '../model/run/phase.ts';
import { BLOCKED, EXPANDED, IS_TERMINAL } from '../model/task/task-states.ts';
import { isEarly, unmetOf, visitAwaiting } from './closers.ts';
import { evaluate, isExpanded } from './evaluate.ts';
import { summariseOne, tally } from './map/tally.ts';
import { nearest, type RunTasksView, slotIn, specIn } from './run-tasks-view.ts';

export function outcomeOf(code: number): RunOutcome | null {
  return RUN_OUTCOMES[code - 1] ?? null;
}

/** A task has ended, in whatever way, a placeholder with all its instances: the closing tasks that wait for it are decided. */
export function settleClosing(view: RunTasksView, from: number): void {
  const { columns, graph } = view;
  const stack = [from];
  /** Undos that ended early and whose turn has come: everything but the next undos heard of their end before. */
  const due: number[] = [];
  const isUndo = (no: number) => graph.closing!.isUndo(specIn(view, no));
  const hear = (below: number) => {
    const slot = slotIn(view, below);
    columns.unmet[slot]! -= 1;
    const at = columns.state[slot]!;
    if (at === BLOCKED) {
      if (evaluate(view, below)) stack.push(below, ...tally(view, below, 1));
    } else if (columns.unmet[slot] === 0 && IS_TERMINAL[at] === 1 && isUndo(below)) due.push(below);
  };
  const hearUndo = (below: number) => {
    if (isUndo(below)) hear(below);
  };
  const hearOther = (below: number) => {
    if (!isUndo(below)) hear(below);
  };
  while (stack.length > 0 || due.length > 0) {
    const ended = stack.pop();
    if (ended !== undefined) visitAwaiting(view, ended, isEarly(view, ended) ? hearOther : hear);
    else visitAwaiting(view, due.pop()!, hearUndo);
  }
}

/** Looks at one closing task, as far as it has not begun. */
export function decideCloser(view: RunTasksView, no: number): void {
  if (view.columns.state[slotIn(view, no)] !== BLOCKED || !evaluate(view, no)) return;
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

/** This task or the run will be tried again or is slow, so a hook that waits for that may run. */
export function wakeRepeating(view: RunTasksView, no: number | null): void {
  for (const hook of repeatingOf(view, no)) {
    if (view.columns.state[slotIn(view, hook)] === BLOCKED) evaluate(view, hook);
  }
}

/** The hooks that run each time that something happens to this task, or to the run. */
export function repeatingOf(view: Pick<RunTasksView, 'graph' | 'maps'>, no: number | null): readonly number[] {
  const { closing } = view.graph;
  if (no === null) return closing!.repeatingOf(null);
  return closing!.repeatingOf(specIn(view, no)).map((hook) => nearest(view, no, hook));
}

/** Decides these closing tasks again from the current states, except those with their own state. */
export function decideClosingAnew(
  view: RunTasksView,
  closers: readonly number[],
  hasOwnState: (slot: TaskSlot) => boolean,
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
  const plan = view.graph.closing!;
  const ranked = [...closers].sort((a, b) => plan.rankOf(specIn(view, a)) - plan.rankOf(specIn(view, b)));
  for (const no of ranked) columns.unmet[slotIn(view, no)] = unmetOf(view, no);
  for (const no of open) decideCloser(view, no);
  for (const no of expanded) if (summariseOne(view, no)) settleClosing(view, no);
}
