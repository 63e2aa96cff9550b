/** A run has tasks that it had not, or others in the place of some that have not begun. */
import type { AddedTask } from '../add/added.ts';
import { assert } from '../assert.ts';
import type { TasksAdded, TasksDropped } from '../change.ts';
import { OPEN } from '../run/run-table.ts';
import { slotOf } from '../run/task-slots.ts';
import type { State } from '../state.ts';
import { failsRun, fieldOf, settleClosingTasks } from '../task/move.ts';
import { decideAndSettle, recount } from '../task/settle.ts';
import { BLOCKED, RUNNING } from '../task/task-table.ts';

export function applyAdded(state: State, change: TasksAdded | TasksDropped): void {
  const { runs, tasks } = state;
  const run = runs.find(change.runId);
  assert(run >= 0, `${change.kind} is about a run in memory`);
  assert(runs.phase[run] === OPEN, 'tasks are added to an open run');
  const slot = slotOf(state, run, change.taskNo);
  assert(slot >= 0 && tasks.state[slot] === RUNNING, `${change.kind} is of a running attempt`);
  assert(tasks.fence[slot] === change.fence, `${change.kind} has the fence of the claim (I21)`);
  grow(state, run, change.tasks);
}

/** Costs the size of the spec, for the arrays of the graph, and the edges that are new or gone. */
function grow(state: State, run: number, changed: readonly AddedTask[]): void {
  const { runs, tasks } = state;
  const known = new Map((runs.added.get(run) ?? []).map((one) => [one.no as number, one]));
  const before = changed.flatMap(({ no }) => known.get(no) ?? []);
  // Of what they need, or needed, some may have been the last of its way, and may not be now: that decides the run (I33).
  const above = new Set(
    [...before, ...changed].flatMap(({ needs }) => needs.filter((no) => no < runs.versionOf(run).taskCount)),
  );
  const countFailed = () => {
    let failed = 0;
    for (const no of above) {
      const slot = slotOf(state, run, no);
      if (failsRun(state, run, slot, tasks.state[slot]!)) failed += 1;
    }
    return failed;
  };
  const failedBefore = countFailed();
  for (const one of changed) {
    assert(
      known.has(one.no) || one.no === runs.versionOf(run).origin.taskCount + known.size,
      'added tasks are numbered one by one',
    );
    known.set(one.no, one);
  }
  const added = [...known.values()];
  const version = runs.versionOf(run).grown(added);
  assert(version.taskCount <= version.room, 'a run has no more tasks than it has seats for');
  runs.unfinished[run]! += version.taskCount - runs.versionOf(run).taskCount;
  runs.version[run] = version;
  runs.added.set(run, added);
  const field = fieldOf(state, run);
  if (field.maps !== null) field.maps.shape = version.graph.maps!;
  runs.failed[run]! += countFailed() - failedBefore;
  const freed = shiftEdges(state, run, before, -1);
  shiftEdges(state, run, changed, 1);
  for (const { no } of changed) {
    assert(tasks.state[slotOf(state, run, no)] === BLOCKED, 'what is added has not begun');
    recount(field, no);
  }
  for (const no of [...changed.map((one) => one.no), ...freed]) decideAndSettle(field, no);
  settleClosingTasks(state, run);
}

/** What waits for these waits for so many more or less. They have not ended: nothing else is counted. */
function shiftEdges(state: State, run: number, added: readonly AddedTask[], by: 1 | -1): number[] {
  const { closing } = state.runs.versionOf(run).graph;
  const below = added.flatMap((one) => (one.isDropped ? [] : one.before)).filter((no) => closing?.has(no) !== true);
  for (const no of below) state.tasks.unmet[slotOf(state, run, no)]! += by;
  return below;
}
