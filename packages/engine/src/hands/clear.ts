/**
 * Tasks are to run again, by hand. Two changes say all of it: `RunReopened` for a run that had ended, `TaskCleared` for each task
 * that has a state of its own. What has none is what its upstream makes of it, and needs no change.
 */
import type { ClearedFrom } from '../change.ts';
import { type Answer, type ClearTasks, refuse } from '../command.ts';
import { isRepeating } from '../dag/closing-plan.ts';
import type { Actor, AttemptNo, Fence, RunId } from '../ids.ts';
import type { Expansion } from '../map/run-maps.ts';
import { instanceName } from '../map/task-names.ts';
import type { Recorder } from '../recorder.ts';
import { reopenRun } from '../run/reopen.ts';
import { OPEN } from '../run/run-table.ts';
import { forEachSlot, slotOf, specNoOf, taskNoOf, taskSpecOf } from '../run/task-slots.ts';
import type { State } from '../state.ts';
import { placeholderOf, visitAwaiting } from '../task/closers.ts';
import { nearest, slotIn, specIn, visitNear } from '../task/field.ts';
import { fieldOf, hasOwnState, isClosingTask } from '../task/move.ts';
import { notesOf, noting } from '../task/notes.ts';
import {
  CANCELLED,
  FAILED,
  READY,
  RETRYING,
  RUNNING,
  SKIPPED,
  STOPPED,
  SUCCEEDED,
  TASK_STATE_NAMES,
  WAITING,
} from '../task/task-table.ts';
import { byHand } from './by-hand.ts';
import { chooseTasks, MAX_TOUCHED } from './choose.ts';
import { mapsFedBy, removeMaps, tasksWithin } from './remove-maps.ts';
import { stopAttempt } from './stop-attempt.ts';

export function clearTasks(recorder: Recorder, command: ClearTasks): Answer {
  return byHand(recorder, command, (on, run) => {
    const chosen = chooseTasks(on.state, run, command.select);
    if (!isList(chosen)) return chosen;
    return clearSlots(on, run, chosen, command);
  });
}

const isList = (value: readonly number[] | Answer): value is readonly number[] => Array.isArray(value);

interface How {
  readonly force: boolean;
  readonly actor: Actor;
  /** The how manieth retry of the run by its own policy. */
  readonly retryNo?: number;
}

/** Those of the tasks that there is something to clear of. */
export function clearSlots(recorder: Recorder, run: number, chosen: readonly number[], how: How): Answer | null {
  const { state } = recorder;
  const { tasks, runs } = state;
  const { wanted, fed, gone } = widened(
    state,
    run,
    chosen.filter((slot) => isClearable(state, slot)),
  );
  const isGone = (slot: number) => gone.has(taskNoOf(state, slot));
  const inside = [...gone].map((no) => slotOf(state, run, no));
  const busy = [...new Set([...chosen, ...inside])].filter((slot) => isBusy(tasks.state[slot]!));
  if (busy.length > 0 && (!how.force || busy.some((slot) => tasks.state[slot] !== RUNNING))) {
    return refuse('TASK_BUSY', naming(state, busy));
  }
  if (wanted.length === 0) return null;
  const tearing = teardownsAtWork(state, run, wanted);
  if (tearing.length > 0) return refuse('TASK_BUSY', naming(state, tearing));
  if (wanted.length > MAX_TOUCHED) return refuse('TOO_MANY_TASKS', String(MAX_TOUCHED));
  const inTheWay = failuresLeft(state, run, new Set([...wanted, ...inside]));
  if (inTheWay.length > 0) return refuse('RUN_WOULD_CLOSE', naming(state, inTheWay));
  const stopped = reopenFor(recorder, run, how.actor, how.retryNo);
  for (const slot of busy) stopAttempt(recorder, slot, how.actor);
  const isWanted = new Set(wanted);
  const all = [...new Set([...wanted, ...stopped])].filter((slot) => !isGone(slot)).sort((a, b) => a - b);
  all.forEach((slot, i) =>
    clearTask(recorder, slot, { actor: how.actor, fresh: isWanted.has(slot), more: i < all.length - 1 }),
  );
  removeMaps(recorder, runs.id[run] as RunId, fed, how.actor);
  return null;
}

/**
 * With what has to run again goes more: what closes it, what was undone or taken down, and what maps have made of an output,
 * chosen or not (I34). Each may bring the other along.
 */
function widened(state: State, run: number, own: readonly number[]) {
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
  run: number,
  wanted: readonly number[],
  removed: readonly number[],
): readonly number[] {
  const field = fieldOf(state, run);
  const { closing } = field.graph;
  if ((closing === null && field.graph.befores.size === 0) || wanted.length === 0) return wanted;
  const all = new Set(wanted);
  const stack = [...wanted.map((slot) => taskNoOf(state, slot) as number), ...removed];
  const stateOf = (no: number) => state.tasks.state[slotIn(field, no)];
  const add = (no: number): boolean => {
    const slot = slotIn(field, no);
    if (all.has(slot) || state.tasks.state[slot] === RUNNING || !isClearable(state, slot)) return false;
    all.add(slot);
    stack.push(no);
    return true;
  };
  if (state.runs.phase[run] !== OPEN) {
    for (const closer of closing?.ofRun ?? []) {
      const { no: spec, undoes } = closer;
      visitNear(field, spec, spec, (no) => {
        // What was undone is not done any more, whatever its row says.
        if (undoes !== undefined && stateOf(no) === SUCCEEDED) add(nearest(field, no, undoes));
        if (!isRepeating(closer)) add(no);
      });
    }
  }
  // A hook before a task runs before that.
  for (const slot of wanted) {
    const spec = specNoOf(state, slot);
    if (!field.graph.isBefore(spec) || spec === field.graph.runBefore) continue;
    for (const of of field.graph.behind.get(spec) ?? []) add(nearest(field, taskNoOf(state, slot), of));
  }
  if (closing === null) return [...all];
  const seen = new Set<number>();
  for (let no = stack.pop(); no !== undefined; no = stack.pop()) {
    if (seen.has(no)) continue;
    seen.add(no);
    // Whoever waits for all instances waits for this one.
    const placeholder = placeholderOf(field, no);
    if (placeholder !== null) stack.push(placeholder);
    visitAwaiting(field, no, (below) => {
      const closer = closing.get(specIn(field, below));
      const { teardown = [] } = closer;
      // A hook that runs each time that something happens has its own way of running again.
      if (isRepeating(closer) || !add(below)) return;
      // What was taken down has to be made again first, for whatever works with it.
      for (const setup of teardown) {
        visitNear(field, below, setup, (made) => {
          if (stateOf(made) === SUCCEEDED) add(made);
        });
      }
    });
  }
  return [...all];
}

/** The tasks that these maps have become many of. */
function placeholdersOf(state: State, run: number, expansions: readonly Expansion[]): number[] {
  const maps = state.runs.mapsOf(run);
  return expansions.flatMap((one) => one.group.members.map((spec) => maps!.placeholderOf(one, spec)));
}

/** Teardowns that are at it, of what these tasks work with. */
function teardownsAtWork(state: State, run: number, wanted: readonly number[]): number[] {
  const field = fieldOf(state, run);
  const { closing } = field.graph;
  if (closing === null) return [];
  const tearing = new Set<number>();
  const look = (no: number) => {
    const isTeardown = closing.get(specIn(field, no)).kind === 'teardown';
    if (isTeardown && isBusy(state.tasks.state[slotIn(field, no)]!)) tearing.add(slotIn(field, no));
  };
  for (const slot of wanted) {
    for (let no: number | null = taskNoOf(state, slot); no !== null; no = placeholderOf(field, no)) {
      visitAwaiting(field, no, look);
    }
  }
  return [...tearing];
}

/**
 * Opens a run that has ended. A failure that closed it has stopped others in their course: they go on as well, and are to be
 * cleared with the rest.
 */
export function reopenFor(recorder: Recorder, run: number, actor: Actor, retryNo = 0): readonly number[] {
  const { state } = recorder;
  if (state.runs.phase[run] === OPEN) return [];
  reopenRun(recorder, run, actor, retryNo);
  const stopped: number[] = [];
  forEachSlot(state, run, (slot) => {
    if (state.tasks.state[slot] === CANCELLED && hasOwnState(state, slot)) stopped.push(slot);
  });
  return stopped;
}

/** Failures that would close the run again at once, were only these tasks to run again. */
export function failuresLeft(state: State, run: number, without: ReadonlySet<number>): number[] {
  const { runs, tasks } = state;
  const { graph } = runs.versionOf(run);
  if (!graph.isFailFast) return [];
  const behind = new Set(graph.reach([...without].map((slot) => specNoOf(state, slot))));
  const left: number[] = [];
  forEachSlot(state, run, (slot) => {
    const code = tasks.state[slot];
    if ((code !== FAILED && code !== STOPPED) || without.has(slot) || isClosingTask(state, slot)) return;
    // A condition without an answer is looked at again behind a task that runs again.
    if (hasOwnState(state, slot) || !behind.has(specNoOf(state, slot))) left.push(slot);
  });
  return left;
}

interface Clearing {
  readonly actor: Actor;
  readonly fresh: boolean;
  readonly more: boolean;
  /** Of a hook: which retry it is about from here on. */
  readonly firing?: number;
}

/** One that only waits keeps what is left of its budgets, unless it is given fresh ones (I39). */
export function clearTask(recorder: Recorder, slot: number, { actor, fresh, more, firing }: Clearing): void {
  const { state } = recorder;
  const { tasks, runs, now } = state;
  const from = rowStateOf(state, slot);
  const isFresh = fresh || from !== 'retrying';
  // What an attempt needs of memory it needs, whoever asked for it. Nothing took time while its run was closed: that counts anew.
  const kept = tasks.state[slot] === CANCELLED ? TIMES_ANEW : {};
  recorder.record({
    kind: 'TaskCleared',
    runId: runs.id[tasks.run[slot]!] as RunId,
    taskNo: taskNoOf(state, slot),
    attemptNo: tasks.attemptNo[slot] as AttemptNo,
    fence: tasks.fence[slot] as Fence,
    from,
    freshBudget: isFresh,
    more,
    actor,
    at: now,
    ...noting(notesOf(state, slot), isFresh ? { ...AFRESH, ...(firing === undefined ? {} : { firing }) } : kept),
  });
}

const ROW_STATES: ReadonlyMap<number, ClearedFrom> = new Map([
  [SUCCEEDED, 'succeeded'],
  [FAILED, 'failed'],
  [SKIPPED, 'skipped'],
  [STOPPED, 'stopped'],
]);

const TIMES_ANEW = { firstAt: undefined, queuedAt: undefined } as const;
const AFRESH = { ...TIMES_ANEW, counts: undefined, expired: undefined, uncounted: undefined } as const;

/** A task that waited for a retry when its run was closed is cancelled, and its row still says that it waits. */
function rowStateOf(state: State, slot: number): ClearedFrom {
  const { tasks } = state;
  if (tasks.state[slot] === FAILED && notesOf(state, slot).expired !== undefined) return 'expired';
  return ROW_STATES.get(tasks.state[slot]!) ?? (tasks.retryAt[slot] !== 0 ? 'retrying' : 'cancelled');
}

function isClearable(state: State, slot: number): boolean {
  const { tasks } = state;
  const code = tasks.state[slot]!;
  if (code === RUNNING) return true;
  // Its backoff is over, and it waits for a slot: to whoever looks it is still to be retried. One that was cleared is as it should
  // be, and so is one whose claim came back, though a breaker may hold it.
  if (code === READY || code === RETRYING) {
    return tasks.retryAt[slot] !== 0 && tasks.endedFence[slot] === tasks.fence[slot] && tasks.cleared[slot] === 0;
  }
  return code >= SUCCEEDED && code !== CANCELLED && hasOwnState(state, slot);
}

/** It has begun, and not ended: with a worker, or waiting for another run. */
export function isBusy(code: number): boolean {
  return code === RUNNING || code === WAITING;
}

const NAMED = 10;

export function naming(state: State, slots: readonly number[]): string {
  const names = slots.slice(0, NAMED).map((slot) => {
    const maps = state.runs.mapsOf(state.tasks.run[slot]!);
    const name = instanceName(taskSpecOf(state, slot).name, maps, taskNoOf(state, slot));
    return `${name} (${TASK_STATE_NAMES[state.tasks.state[slot]!]})`;
  });
  return names.join(', ') + (slots.length > NAMED ? ` and ${slots.length - NAMED} more` : '');
}
