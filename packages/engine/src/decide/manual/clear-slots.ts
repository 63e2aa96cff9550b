/**
 * Clears tasks, so they run again. Two changes describe this completely: `RunReopened` for a run that had ended, and
 * `TaskCleared` for each task with its own state. The state of all other tasks follows from upstream and needs no change.
 */

import { type Answer, refuse } from '../../model/answer.ts';
import type { Actor, RunRow, TaskSlot } from '../../model/ids.ts';
import { CANCELLED, COUNTS_AS_FAILED, RUNNING, TASK_STATE_NAMES } from '../../model/task/task-states.ts';
import { instanceName } from '../../tables/map/task-names.ts';
import { OPEN } from '../../tables/run/run-table.ts';
import type { State } from '../../tables/state.ts';
import { isClosingTask } from '../../tables/task/may-run.ts';
import { hasOwnState } from '../../tables/task/task-notes.ts';
import { forEachSlot, slotOf, specNoOf, taskNoOf, taskSpecOf } from '../../tables/task/task-slots.ts';
import type { Recorder } from '../recorder.ts';
import { reopenRun } from '../run/reopen.ts';
import { MAX_TOUCHED } from './choose.ts';
import { clearTask } from './clear-task.ts';
import { removeMaps } from './remove-maps.ts';
import { stopAttempts } from './stop-attempts.ts';
import { remakeTornDown, stoppedByRemaking, teardownsAtWork, teardownsDone } from './teardowns.ts';
import { withGangs } from './whole-gangs.ts';
import { isBusy, isClearable, widened } from './widen.ts';

interface How {
  readonly force: boolean;
  readonly actor: Actor;
  /** Number of the retry of the run by its own policy, starting at 1. */
  readonly retryNo?: number;
}

/** Those of the tasks that there is something to clear of. */
export function clearSlots(recorder: Recorder, run: RunRow, named: readonly TaskSlot[], how: How): Answer | null {
  const { state } = recorder;
  const { tasks, runs } = state;
  const chosen = withGangs(state, named, (slot) => isClearable(state, slot));
  const { wanted, fed, gone } = widened(
    state,
    run,
    chosen.filter((slot) => isClearable(state, slot)),
  );
  const isGone = (slot: TaskSlot) => gone.has(taskNoOf(state, slot));
  const inside = [...gone].map((no) => slotOf(state, run, no));
  const busy = [...new Set([...chosen, ...inside])].filter((slot) => isBusy(tasks.state[slot]!));
  if (busy.length > 0 && (!how.force || busy.some((slot) => tasks.state[slot] !== RUNNING))) {
    return refuse('TASK_BUSY', naming(state, busy));
  }
  if (wanted.length === 0) return null;
  const tearing = teardownsAtWork(
    state,
    run,
    wanted.map((slot) => taskNoOf(state, slot)),
    { again: true },
  );
  if (tearing.length > 0) return refuse('TASK_BUSY', naming(state, tearing));
  if (wanted.length > MAX_TOUCHED) return refuse('TOO_MANY_TASKS', String(MAX_TOUCHED));
  const inTheWay = failuresLeft(state, run, new Set([...wanted, ...inside]));
  if (inTheWay.length > 0) return refuse('RUN_WOULD_CLOSE', naming(state, inTheWay));
  const done = teardownsDone(state, run);
  const disturbed = stoppedByRemaking(state, run, done, wanted);
  if (disturbed.length > 0 && (!how.force || disturbed.some((slot) => tasks.state[slot] !== RUNNING))) {
    return refuse('TASK_BUSY', naming(state, disturbed));
  }
  const stopped = reopenFor(recorder, run, how.actor, how.retryNo);
  for (const slot of busy) stopAttempts(recorder, slot, how.actor);
  const isWanted = new Set(wanted);
  const all = [...new Set([...wanted, ...stopped])].filter((slot) => !isGone(slot)).sort((a, b) => a - b);
  all.forEach((slot, i) =>
    clearTask(recorder, slot, { actor: how.actor, fresh: isWanted.has(slot), more: i < all.length - 1 }),
  );
  removeMaps(recorder, runs.id[run]!, fed, how.actor);
  remakeTornDown(recorder, run, done, how.actor);
  return null;
}

/** Opens a run that has ended: what was stopped with it goes on, and what was taken down for that is made again. */
export function goOn(recorder: Recorder, run: RunRow, actor: Actor): void {
  const done = teardownsDone(recorder.state, run);
  const stopped = reopenFor(recorder, run, actor);
  stopped.forEach((slot, i) => clearTask(recorder, slot, { actor, fresh: false, more: i < stopped.length - 1 }));
  remakeTornDown(recorder, run, done, actor);
}

/**
 * Opens a run that has ended. A failure that closed it has stopped others in their course: they go on as well, and are to be
 * cleared with the rest.
 */
export function reopenFor(recorder: Recorder, run: RunRow, actor: Actor, retryNo = 0): readonly TaskSlot[] {
  const { state } = recorder;
  if (state.runs.phase[run] === OPEN) return [];
  reopenRun(recorder, run, actor, retryNo);
  const stopped: TaskSlot[] = [];
  forEachSlot(state, run, (slot) => {
    if (state.tasks.state[slot] === CANCELLED && hasOwnState(state, slot)) stopped.push(slot);
  });
  return withGangs(state, stopped, (slot) => isClearable(state, slot));
}

/** Failures that would close the run again at once, were only these tasks to run again. */
export function failuresLeft(state: State, run: RunRow, without: ReadonlySet<TaskSlot>): TaskSlot[] {
  const { runs, tasks } = state;
  const { graph } = runs.versionOf(run);
  if (!graph.isFailFast) return [];
  const behind = new Set(graph.reach([...without].map((slot) => specNoOf(state, slot))));
  const left: TaskSlot[] = [];
  forEachSlot(state, run, (slot) => {
    if (COUNTS_AS_FAILED[tasks.state[slot]!] === 0 || without.has(slot) || isClosingTask(state, slot)) return;
    // A condition without an answer is looked at again behind a task that runs again.
    if (hasOwnState(state, slot) || !behind.has(specNoOf(state, slot))) left.push(slot);
  });
  return left;
}

const NAMED = 10;

export function naming(state: State, slots: readonly TaskSlot[]): string {
  const names = slots.slice(0, NAMED).map((slot) => {
    const maps = state.runs.mapsOf(state.tasks.run[slot]!);
    const name = instanceName(taskSpecOf(state, slot).name, maps, taskNoOf(state, slot));
    return `${name} (${TASK_STATE_NAMES[state.tasks.state[slot]!]})`;
  });
  return names.join(', ') + (slots.length > NAMED ? ` and ${slots.length - NAMED} more` : '');
}
