/** Marks tasks: a person sets their state (I32). */

import { type Answer, refuse } from '../../model/answer.ts';
import type { MarkTasks } from '../../model/command.ts';
import type { AttemptNo, Fence, RunRow, TaskNo, TaskSlot } from '../../model/ids.ts';
import { type ReadFacts, readTaskFacts } from '../../model/task/facts.ts';
import type { Mark } from '../../model/task/outcome.ts';
import { FAILED, IS_TERMINAL, RUNNING, SKIPPED, STOPPED, SUCCEEDED } from '../../model/task/task-states.ts';
import { CLAIMED } from '../../tables/run/run-table.ts';
import { lastFence } from '../../tables/speculative/notes.ts';
import type { State } from '../../tables/state.ts';
import { hasOwnState, hasRow } from '../../tables/task/task-notes.ts';
import { slotOf, specNoOf, taskNoOf, taskSpecOf } from '../../tables/task/task-slots.ts';
import type { Recorder } from '../recorder.ts';
import { chooseTasks, MAX_TOUCHED } from './choose.ts';
import { failuresLeft, naming, reopenFor } from './clear-slots.ts';
import { clearTask } from './clear-task.ts';
import { manually } from './manually.ts';
import { mapsFedBy, removeMaps, tasksWithin } from './remove-maps.ts';
import { stopAttempts } from './stop-attempts.ts';
import { remakeTornDown, teardownsAtWork, teardownsDone } from './teardowns.ts';
import { withGangs } from './whole-gangs.ts';
import { isBusy } from './widen.ts';

export function markTasks(recorder: Recorder, command: MarkTasks): Answer {
  return manually(recorder, command, (on, run) => {
    const select = { tasks: command.tasks, states: null, downstream: false, upstream: false };
    const named = chooseTasks(on.state, run, select);
    if (!isList(named)) return named;
    const chosen = withGangs(on.state, named, (slot) => IS_TERMINAL[on.state.tasks.state[slot]!] === 0);
    const early = chosen.filter((slot) => isMap(on.state, run, slot) === 'open');
    if (early.length > 0) return refuse('TASK_BUSY', naming(on.state, early));
    return markSlots(
      on,
      run,
      chosen.filter((slot) => isMap(on.state, run, slot) !== 'expanded'),
      command,
    );
  });
}

const isList = (value: readonly TaskSlot[] | Answer): value is readonly TaskSlot[] => Array.isArray(value);

function markSlots(recorder: Recorder, run: RunRow, chosen: readonly TaskSlot[], command: MarkTasks): Answer | null {
  const { state } = recorder;
  const { as, actor } = command;
  const refusal = refusalOf(state, chosen, command);
  if (refusal !== null) return refusal;
  const all = chosen.filter((slot) => as === 'succeeded' || !isSo(state, slot, as));
  // What a map has made of an output goes with it (I34).
  const fed = mapsFedBy(state, run, all);
  const gone = tasksWithin(state, run, fed);
  const wanted = all.filter((slot) => !gone.has(taskNoOf(state, slot)));
  const inside = [...gone].map((no) => slotOf(state, run, no)).filter((slot) => isBusy(state.tasks.state[slot]!));
  if (inside.some((slot) => !command.force || state.tasks.state[slot] !== RUNNING)) {
    return refuse('TASK_BUSY', naming(state, inside));
  }
  const facts = wanted.map((slot) => factsOf(state, run, slot, command));
  for (const read of facts) if (!read.ok) return refuse('OUTPUT_INVALID', read.error);
  const left = as === 'failed' || as === 'cancelled' ? [] : failuresLeft(state, run, new Set(wanted));
  if (left.length > 0) return refuse('RUN_WOULD_CLOSE', naming(state, left));
  if (wanted.length === 0) return null;
  const tearing = teardownsAtWork(
    state,
    run,
    wanted.map((slot) => taskNoOf(state, slot)),
    { again: false },
  ).filter((slot) => !wanted.includes(slot));
  if (tearing.length > 0) return refuse('TASK_BUSY', naming(state, tearing));
  const done = teardownsDone(state, run);
  const isIn = new Set([...wanted, ...[...gone].map((no) => slotOf(state, run, no))]);
  const others = reopenFor(recorder, run, actor).filter((slot) => !isIn.has(slot));
  others.forEach((slot, i) => clearTask(recorder, slot, { actor, fresh: false, more: i < others.length - 1 }));
  wanted.forEach((slot, i) => {
    if (state.tasks.state[slot] === RUNNING) stopAttempts(recorder, slot, actor);
    const read = facts[i]!;
    markSlot(recorder, run, slot, command, read.ok ? read.text : null);
  });
  for (const slot of inside) stopAttempts(recorder, slot, actor);
  removeMaps(recorder, command.runId, fed, actor);
  remakeTornDown(recorder, run, done, actor);
  return null;
}

/** A mapped task is what its instances come to; before there are any, nobody can tell for them. */
function isMap(state: State, run: RunRow, slot: TaskSlot): 'open' | 'expanded' | null {
  const maps = state.runs.mapsOf(run);
  const no = taskNoOf(state, slot);
  if (maps === null || maps.waitsFor(no) === undefined) return null;
  return (maps.expansionOf(no)?.total ?? 0) > 0 ? 'expanded' : 'open';
}

/** A task that runs is stopped only by force, or by a cancel, which says as much. */
function refusalOf(state: State, chosen: readonly TaskSlot[], { as, force }: MarkTasks): Answer | null {
  if (chosen.length > MAX_TOUCHED) return refuse('TOO_MANY_TASKS', String(MAX_TOUCHED));
  const codes = state.tasks.state;
  const mayStop = force || as === 'cancelled';
  const busy = chosen.filter((slot) => isBusy(codes[slot]!) && (!mayStop || codes[slot] !== RUNNING));
  if (busy.length > 0) return refuse('TASK_BUSY', naming(state, busy));
  // A completion that was committed first wins over a later cancel (I42).
  const ended =
    as === 'cancelled' ? chosen.filter((slot) => IS_TERMINAL[codes[slot]!] === 1 && codes[slot] !== STOPPED) : [];
  return ended.length > 0 ? refuse('TASK_ENDED', naming(state, ended)) : null;
}

const CODE_OF = { succeeded: SUCCEEDED, failed: FAILED, skipped: SKIPPED, cancelled: STOPPED } as const;

/** Saying so again changes nothing; of what its upstream made of it, it is still to be said. */
function isSo(state: State, slot: TaskSlot, as: Mark): boolean {
  return state.tasks.state[slot] === CODE_OF[as] && hasOwnState(state, slot);
}

/** What others look at in the output that it is given: a branch must choose as it may. */
function factsOf(state: State, run: RunRow, slot: TaskSlot, { as, output }: MarkTasks): ReadFacts {
  const version = state.runs.versionOf(run);
  const no = specNoOf(state, slot);
  if (as !== 'succeeded' || version.graph.givesFacts[no] !== 1) return { ok: true, text: null };
  const nameOf = (below: number) => version.task(below as TaskNo).name;
  return readTaskFacts(taskSpecOf(state, slot), { numbers: version.graph.below(no), nameOf }, output);
}

function markSlot(
  recorder: Recorder,
  run: RunRow,
  slot: TaskSlot,
  { as, output, reason, actor }: MarkTasks,
  facts: string | null,
): void {
  const { state } = recorder;
  const { tasks, runs } = state;
  recorder.record({
    kind: 'TaskMarked',
    runId: runs.id[run]!,
    taskNo: taskNoOf(state, slot),
    attemptNo: tasks.attemptNo[slot] as AttemptNo,
    fence: (lastFence(state, slot) + 1) as Fence,
    firstOfTask: !hasRow(state, slot),
    firstOfRun: !runs.has(run, CLAIMED),
    state: as,
    output: as === 'succeeded' ? output : null,
    facts,
    reason,
    actor,
    at: state.now,
  });
}
