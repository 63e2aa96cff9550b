/** Which other tasks run again when tasks are cleared. */

import { isRepeating } from '../../model/dag/closing-plan.ts';
import type { RunRow, TaskSlot } from '../../model/ids.ts';
import { HAS_ENDED, HOLDS_CLAIM, IS_DUE, RUNNING, SUCCEEDED } from '../../model/task/task-states.ts';
import { placeholderOf, visitAwaiting } from '../../propagate/closers.ts';
import { viewOf } from '../../propagate/move.ts';
import { nearest, slotIn, specIn, visitNear } from '../../propagate/run-tasks-view.ts';
import type { Expansion } from '../../tables/map/run-maps.ts';
import { OPEN } from '../../tables/run/run-table.ts';
import type { State } from '../../tables/state.ts';
import { hasOwnState } from '../../tables/task/task-notes.ts';
import { specNoOf, taskNoOf } from '../../tables/task/task-slots.ts';
import { mapsFedBy, tasksWithin } from './remove-maps.ts';

/**
 * With what has to run again goes more: what closes it, what was undone or taken down, and what maps have made of an output,
 * chosen or not (I34). Each may bring the other along.
 */
export function widened(state: State, run: RunRow, own: readonly TaskSlot[]) {
  for (let from = own; ; ) {
    const fed = mapsFedBy(state, run, from);
    const gone = tasksWithin(state, run, fed);
    const staying = from.filter((slot) => !gone.has(taskNoOf(state, slot)));
    const wanted = withClosers(state, run, staying, placeholdersOf(state, run, fed));
    const all = new Set([...from, ...wanted]);
    if (all.size === from.length) return { wanted, fed, gone };
    from = [...all];
  }
}

/** Their hooks, teardowns and undos run again as well; and those of a run that is to go on, when it ends the next time. */
function withClosers(
  state: State,
  run: RunRow,
  wanted: readonly TaskSlot[],
  removed: readonly number[],
): readonly TaskSlot[] {
  const view = viewOf(state, run);
  const { closing } = view.graph;
  if ((closing === null && view.graph.befores.size === 0) || wanted.length === 0) return wanted;
  const all = new Set(wanted);
  const stack = [...wanted.map((slot) => taskNoOf(state, slot) as number), ...removed];
  const stateOf = (no: number) => state.tasks.state[slotIn(view, no)];
  const add = (no: number): boolean => {
    const slot = slotIn(view, no);
    if (all.has(slot) || state.tasks.state[slot] === RUNNING || !isClearable(state, slot)) return false;
    all.add(slot);
    stack.push(no);
    return true;
  };
  if (state.runs.phase[run] !== OPEN) {
    for (const closer of closing?.ofRun ?? []) {
      const { no: spec, undoes } = closer;
      visitNear(view, spec, spec, (no) => {
        // What was undone is not done any more, whatever its row says.
        if (undoes !== undefined && stateOf(no) === SUCCEEDED) add(nearest(view, no, undoes));
        if (!isRepeating(closer)) add(no);
      });
    }
  }
  // A hook before a task runs before that.
  for (const slot of wanted) {
    const spec = specNoOf(state, slot);
    if (!view.graph.isBefore(spec) || spec === view.graph.runBefore) continue;
    for (const of of view.graph.behind.get(spec) ?? []) add(nearest(view, taskNoOf(state, slot), of));
  }
  if (closing === null) return [...all];
  const seen = new Set<number>();
  for (let no = stack.pop(); no !== undefined; no = stack.pop()) {
    if (seen.has(no)) continue;
    seen.add(no);
    // Whoever waits for all instances waits for this one.
    const placeholder = placeholderOf(view, no);
    if (placeholder !== null) stack.push(placeholder);
    visitAwaiting(view, no, (below) => {
      const closer = closing.get(specIn(view, below));
      const { teardown = [] } = closer;
      // A hook that runs each time that something happens has its own way of running again.
      if (isRepeating(closer) || !add(below)) return;
      // What was taken down has to be made again first, for whatever works with it.
      for (const setup of teardown) {
        visitNear(view, below, setup, (made) => {
          if (stateOf(made) === SUCCEEDED) add(made);
        });
      }
    });
  }
  return [...all];
}

/** The tasks that these maps have become many of. */
function placeholdersOf(state: State, run: RunRow, expansions: readonly Expansion[]): number[] {
  const maps = state.runs.mapsOf(run);
  return expansions.flatMap((one) => one.group.members.map((spec) => maps!.placeholderOf(one, spec)));
}

export function isClearable(state: State, slot: TaskSlot): boolean {
  const { tasks } = state;
  const code = tasks.state[slot]!;
  if (code === RUNNING) return true;
  // Its backoff is over, and it waits for a slot: to whoever looks it is still to be retried. One that was cleared is as it should
  // be, and so is one whose claim came back, though a breaker may hold it.
  if (IS_DUE[code] === 1) {
    return tasks.retryAt[slot] !== 0 && tasks.endedFence[slot] === tasks.fence[slot] && tasks.cleared[slot] === 0;
  }
  return HAS_ENDED[code] === 1 && hasOwnState(state, slot);
}

/** It has begun, and not ended: with a worker, or waiting for another run. */
export function isBusy(code: number): boolean {
  return HOLDS_CLAIM[code] === 1;
}
