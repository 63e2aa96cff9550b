/** Applies changes about runs that wait for the window before theirs. */
import { assert } from '../model/assert.ts';
import type { PastChecked, RequirementsChecked, RunYielded } from '../model/change.ts';
import type { RunRow } from '../model/ids.ts';
import { readRunNotes } from '../model/run/run-notes.ts';
import { READY } from '../model/task/task-states.ts';
import { waitForWindow } from '../tables/past/past.ts';
import { enqueue } from '../tables/queue/enqueue.ts';
import { ADMITTED, OPEN } from '../tables/run/run-table.ts';
import type { State } from '../tables/state.ts';
import { forEachSlot, specNoOf } from '../tables/task/task-slots.ts';
import { slotAt } from '../tables/task/task-table.ts';

export function applyPast(state: State, change: PastChecked | RunYielded | RequirementsChecked): void {
  const run = state.runs.find(change.runId);
  assert(run >= 0, `${change.kind} is about a run in memory`);
  if (change.kind === 'RunYielded') yieldPlace(state, run);
  else if (change.kind === 'RequirementsChecked') joinWaiting(state, run, change);
  else check(state, run, change);
}

function check(state: State, run: RunRow, change: PastChecked): void {
  const { runs, past, agenda } = state;
  const notes = readRunNotes(change.notes);
  const before = past.get(run);
  assert(notes.past !== undefined && before !== undefined, 'a run that waits is looked at');
  runs.notes.set(run, notes);
  const left = new Set(notes.past.left);
  const released = new Set([...before.left].filter((no) => !left.has(no)));
  if (notes.past.at === null || left.size === 0) past.remove(run);
  else waitForWindow(state, run, notes.past.at, notes.past.left);
  enqueueReleased(state, run, released);
  // The run that it waits for may be one that waits for a place.
  agenda.dags.add(runs.versionOf(run).dag);
}

function enqueueReleased(state: State, run: RunRow, released: ReadonlySet<number>): void {
  const { tasks, runs } = state;
  const { graph } = runs.versionOf(run);
  if (graph.maps === null) {
    for (const no of released) {
      const slot = slotAt(runs.base[run]!, no);
      if (tasks.state[slot] === READY) enqueue(state, slot);
    }
    return;
  }
  forEachSlot(state, run, (slot) => {
    if (tasks.state[slot] === READY && released.has(specNoOf(state, slot))) enqueue(state, slot);
  });
}

/** All its ready tasks wait: none of them is in a lane. */
function yieldPlace(state: State, run: RunRow): void {
  const { runs, agenda } = state;
  assert(runs.phase[run] === OPEN && runs.has(run, ADMITTED), 'an active run gives up its place');
  assert(runs.running[run] === 0, 'a run that gives up its place has no attempt that runs');
  runs.flags[run]! &= ~ADMITTED;
  runs.timings.delete(run);
  const { dag } = runs.versionOf(run);
  dag.activeRuns -= 1;
  dag.waitingRuns.push(runs.id[run]!);
  agenda.dags.add(dag);
}

/** From here on it waits for a place like any other. */
function joinWaiting(state: State, run: RunRow, change: RequirementsChecked): void {
  const { runs, requires, agenda } = state;
  assert(runs.phase[run] === OPEN && requires.has(run), 'a run that waits for requirements is looked at');
  runs.notes.set(run, readRunNotes(change.notes));
  requires.remove(run);
  const { dag } = runs.versionOf(run);
  dag.waitingRuns.push(change.runId);
  agenda.dags.add(dag);
}
