/** Adds tasks to a run, or replaces added tasks that have not begun. */

import { assert } from '../model/assert.ts';
import type { TasksAdded, TasksDropped } from '../model/change.ts';
import type { AddedTask } from '../model/dag/added.ts';
import { changedGates } from '../model/dag/gates.ts';
import type { Graph } from '../model/dag/graph.ts';
import type { RunRow } from '../model/ids.ts';
import { BLOCKED, RUNNING } from '../model/task/task-states.ts';
import { failsRun, settleClosingTasks, viewOf } from '../propagate/move.ts';
import { visitNear } from '../propagate/run-tasks-view.ts';
import { decideAndSettle, recount } from '../propagate/settle.ts';
import { NO_ATTEMPT } from '../tables/attempt/attempt-table.ts';
import { attemptWith } from '../tables/attempt/find-attempt.ts';
import { OPEN } from '../tables/run/run-table.ts';
import type { State } from '../tables/state.ts';
import { forgetQueued } from '../tables/task/task-notes.ts';
import { slotOf } from '../tables/task/task-slots.ts';

export function applyAdded(state: State, change: TasksAdded | TasksDropped): void {
  const { runs, tasks } = state;
  const run = runs.find(change.runId);
  assert(run >= 0, `${change.kind} is about a run in memory`);
  assert(runs.phase[run] === OPEN, 'tasks are added to an open run');
  const slot = slotOf(state, run, change.taskNo);
  assert(slot >= 0 && tasks.state[slot] === RUNNING, `${change.kind} is of a running attempt`);
  assert(attemptWith(state, slot, change.fence) !== NO_ATTEMPT, `${change.kind} has the fence of the claim (I21)`);
  grow(state, run, change.tasks);
}

/** Costs the size of the spec, for the arrays of the graph, and the edges that are new or gone. */
function grow(state: State, run: RunRow, changed: readonly AddedTask[]): void {
  const { runs, tasks } = state;
  const old = runs.versionOf(run);
  const known = new Map((runs.added.get(run) ?? []).map((one) => [one.no as number, one]));
  const before = changed.flatMap(({ no }) => known.get(no) ?? []);
  // Of what they need, or needed, some may have been the last of its way, and may not be now: that decides the run (I33).
  const above = new Set(
    [...before, ...changed].flatMap(({ needs }) => needs.filter((no) => no < runs.versionOf(run).taskCount)),
  );
  const countFailed = () => {
    let failed = 0;
    const look = (no: number) => {
      const slot = slotOf(state, run, no);
      if (failsRun(state, run, slot, tasks.state[slot]!)) failed += 1;
    };
    // Of a mapped one each instance decides by itself.
    for (const no of above) visitNear(viewOf(state, run), no, no, look);
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
  const more = version.taskCount - runs.versionOf(run).taskCount;
  runs.unfinished[run]! += more;
  runs.size[run]! += more;
  version.dag.liveTasks += more;
  runs.version[run] = version;
  runs.added.set(run, added);
  const view = viewOf(state, run);
  if (view.maps !== null) view.maps.shape = version.graph.maps!;
  runs.failed[run]! += countFailed() - failedBefore;
  const isChanged = new Set<number>(changed.map(({ no }) => no));
  const below = new Set([...before, ...changed].flatMap((one) => one.before).filter((no) => !isChanged.has(no)));
  shiftCounts(state, run, below, { from: old.graph, to: version.graph });
  for (const { no } of changed) {
    const slot = slotOf(state, run, no);
    assert(tasks.state[slot] === BLOCKED, 'what is added has not begun');
    // The task that had this name before may have waited in a queue. The new one may have no limit for that time (I41).
    tasks.queueDueAt.delete(slot);
    tasks.totalDueAt.delete(slot);
    forgetQueued(state, slot);
    recount(view, no);
  }
  for (const no of [...isChanged, ...below]) if (version.graph.closing?.has(no) !== true) decideAndSettle(view, no);
  // What has lost the short circuit that it waited for may run.
  for (const { no } of changedGates(old.graph, version.graph)) {
    visitNear(view, no, no, (each) => {
      if (tasks.state[slotOf(state, run, each)] === BLOCKED) decideAndSettle(view, each);
    });
  }
  settleClosingTasks(state, run);
}

/** These wait for more than before, or for less. What is new or gone has not ended: nothing else is counted. */
function shiftCounts(
  state: State,
  run: RunRow,
  below: ReadonlySet<number>,
  { from, to }: { readonly from: Graph; readonly to: Graph },
): void {
  for (const no of below) {
    if (to.closing?.has(no) === true) continue;
    state.tasks.unmet[slotOf(state, run, no)]! += to.upstreamCount[no]! - from.upstreamCount[no]!;
  }
}
