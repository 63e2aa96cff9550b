/**
 * Runs setups again before anything uses what was torn down. A task between a setup and its teardown can be reopened
 * indirectly: by the retry of a task outside that it needs, by a mark, by a run that continues. So this looks at the states
 * of the tasks, whatever reopened them, and not at the selection of the user.
 */

import type { Actor, RunRow, TaskSlot } from '../../model/ids.ts';
import { IS_TERMINAL, RUNNING, SUCCEEDED } from '../../model/task/task-states.ts';
import { allClosers, placeholderOf, visitAwaiting } from '../../propagate/closers.ts';
import { viewOf } from '../../propagate/move.ts';
import { nearest, type RunTasksView, slotIn, specIn, visitNear } from '../../propagate/run-tasks-view.ts';
import type { State } from '../../tables/state.ts';
import { hasOwnState } from '../../tables/task/task-notes.ts';
import { slotOf, taskNoOf } from '../../tables/task/task-slots.ts';
import type { Recorder } from '../recorder.ts';
import { clearTask } from './clear-task.ts';
import { removeMaps } from './remove-maps.ts';
import { stopAttempts } from './stop-attempts.ts';
import { isBusy, isClearable, widened } from './widen.ts';

/**
 * Teardowns that have run, and wait for nothing ordinary any more, by their numbers. One that somebody has marked while its tasks
 * still run is none: its setup is in use.
 */
export function teardownsDone(state: State, run: RunRow): readonly number[] {
  const view = viewOf(state, run);
  return teardownsOf(view).filter((no) => isClearable(state, slotIn(view, no)) && !hasOpen(view, no));
}

/** Of these, what is used again: the teardown is cleared together with its setups. */
export function remakeTornDown(recorder: Recorder, run: RunRow, done: readonly number[], actor: Actor): void {
  const { state } = recorder;
  const runId = state.runs.id[run]!;
  for (;;) {
    const view = viewOf(state, run);
    const again = done.filter((no) => {
      const slot = slotIn(view, no);
      // One that went with its map has no slot.
      return slot >= 0 && state.tasks.state[slot] !== RUNNING && isClearable(state, slot) && hasOpen(view, no);
    });
    if (again.length === 0) return;
    const { wanted, fed, gone } = widened(
      state,
      run,
      again.flatMap((no) => [slotIn(view, no), ...madeFor(state, view, no)]),
    );
    for (const no of gone) {
      const slot = slotOf(state, run, no);
      if (state.tasks.state[slot] === RUNNING) stopAttempts(recorder, slot, actor);
    }
    wanted.forEach((slot, i) => clearTask(recorder, slot, { actor, fresh: true, more: i < wanted.length - 1 }));
    removeMaps(recorder, runId, fed, actor);
  }
}

/**
 * What would be stopped in its course if these tasks run again: it belongs to a map over the output of a setup that must be made
 * again for them.
 */
export function stoppedByRemaking(
  state: State,
  run: RunRow,
  done: readonly number[],
  own: readonly TaskSlot[],
): readonly TaskSlot[] {
  if (done.length === 0) return [];
  const view = viewOf(state, run);
  let opened: readonly number[] = own.map((slot) => taskNoOf(state, slot));
  for (;;) {
    const waiting = closersAwaiting(view, [...opened, ...decidedWith(state, view, opened)]);
    const again = done.filter((no) => waiting.has(no));
    const { wanted, gone } = widened(
      state,
      run,
      again.flatMap((no) => [slotIn(view, no), ...madeFor(state, view, no)]),
    );
    const all = new Set([...opened, ...wanted.map((slot) => taskNoOf(state, slot))]);
    // A setup that is made again may open what another teardown waits for.
    if (all.size > opened.length) opened = [...all];
    else return [...gone].map((no) => slotOf(state, run, no)).filter((slot) => isBusy(state.tasks.state[slot]!));
  }
}

/**
 * Teardowns that run now, and that wait for what these tasks may open; by their slots. With `again` the tasks themselves are to run;
 * otherwise somebody only says what has become of them.
 */
export function teardownsAtWork(
  state: State,
  run: RunRow,
  tasks: readonly number[],
  { again }: { readonly again: boolean },
): readonly TaskSlot[] {
  const view = viewOf(state, run);
  const working = new Set(
    teardownsOf(view)
      .map((no) => slotIn(view, no))
      .filter((slot) => isBusy(state.tasks.state[slot]!)),
  );
  if (working.size === 0) return [];
  const waiting = closersAwaiting(view, [...(again ? tasks : []), ...decidedWith(state, view, tasks)]);
  return [...waiting].map((no) => slotIn(view, no)).filter((slot) => working.has(slot));
}

/** Closing tasks that wait for one of these. Whoever waits for a mapped task waits for its instances. */
function closersAwaiting(view: RunTasksView, tasks: readonly number[]): Set<number> {
  const found = new Set<number>();
  for (const task of tasks) {
    for (let no: number | null = task; no !== null; no = placeholderOf(view, no)) {
      visitAwaiting(view, no, (closer) => found.add(closer));
    }
  }
  return found;
}

function teardownsOf(view: RunTasksView): number[] {
  const { closing } = view.graph;
  if (closing?.tasks.some(({ kind }) => kind === 'teardown') !== true) return [];
  return allClosers(view).filter((no) => closing.get(specIn(view, no)).kind === 'teardown');
}

/** Whether it waits for an ordinary task that has not ended. */
function hasOpen(view: RunTasksView, no: number): boolean {
  const closing = view.graph.closing!;
  return closing.get(specIn(view, no)).awaits.some((up) => {
    if (closing.has(up)) return false;
    return IS_TERMINAL[view.columns.state[slotIn(view, nearest(view, no, up))]!] === 0;
  });
}

/** Its setups that have succeeded. A mapped one is its instances: what they came of has no state of its own. */
function madeFor(state: State, view: RunTasksView, no: number): TaskSlot[] {
  const made: TaskSlot[] = [];
  for (const setup of view.graph.closing!.get(specIn(view, no)).teardown ?? []) {
    visitNear(view, no, setup, (each) => {
      const slot = slotIn(view, each);
      if (view.columns.state[slot] === SUCCEEDED && hasOwnState(state, slot)) made.push(slot);
    });
  }
  return made;
}

/** All behind these that has no state of its own, and so may be opened with them. */
function decidedWith(state: State, view: RunTasksView, from: readonly number[]): Set<number> {
  const [seen, stack] = [new Set<number>(), [...from]];
  for (let no = stack.pop(); no !== undefined; no = stack.pop()) {
    const spec = specIn(view, no);
    const { graph } = view;
    // What a hook stands before is decided with the hook, and so is all behind a short circuit or a setup.
    const fed = graph.maps?.fed.get(spec) ?? [];
    for (const below of [...graph.below(spec), ...fed, ...(graph.behind.get(spec) ?? [])]) {
      visitNear(view, no, below, (other) => {
        if (seen.has(other) || hasOwnState(state, slotIn(view, other))) return;
        seen.add(other);
        stack.push(other);
      });
    }
  }
  return seen;
}
