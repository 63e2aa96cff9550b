import { assert } from '../model/assert.ts';
import type { MapExpanded, MapRemoved, MapUnfolded } from '../model/change.ts';
import type { RunRow, TaskSlot } from '../model/ids.ts';
import { CANCELLED, READY } from '../model/task/task-states.ts';
import { expandMap, removeMap, unfoldMap } from '../propagate/map/expand.ts';
import { viewOf } from '../propagate/move.ts';
import { decideAndSettle } from '../propagate/settle.ts';
import { NO_ATTEMPT } from '../tables/attempt/attempt-table.ts';
import { leadingOf } from '../tables/attempt/find-attempt.ts';
import { type Expansion, RUN_SCOPE } from '../tables/map/run-maps.ts';
import { note } from '../tables/map/watch-map.ts';
import { leaveLane } from '../tables/queue/enqueue.ts';
import { OPEN } from '../tables/run/run-table.ts';
import type { State } from '../tables/state.ts';
import { isClosingTask } from '../tables/task/may-run.ts';
import { hasOwnState } from '../tables/task/task-notes.ts';

export function applyMapChange(state: State, change: MapExpanded | MapUnfolded | MapRemoved): void {
  const run = state.runs.find(change.runId);
  assert(run >= 0, `${change.kind} is about a run in memory`);
  assert(state.runs.phase[run] === OPEN, 'maps of an open run expand');
  if (change.kind === 'MapExpanded') return expand(state, run, change);
  const expansion = state.runs.mapsOf(run)?.startingAt(change.firstNo);
  assert(expansion !== undefined, `${change.kind} is about a map that has expanded`);
  if (change.kind === 'MapUnfolded') unfold(state, run, expansion, change);
  else remove(state, run, expansion);
}

function expand(state: State, run: RunRow, { group, scope, firstNo, total }: MapExpanded): void {
  const view = viewOf(state, run);
  const where = scope ?? RUN_SCOPE;
  const { group: mapped } = expandMap(view, { group, scope: where, firstNo, total });
  if (total > 0) return note(state, run, group, where);
  const expansion = view.maps!.find(group, where)!;
  for (const spec of mapped.members) decideAndSettle(view, view.maps!.placeholderOf(expansion, spec));
}

function unfold(state: State, run: RunRow, expansion: Expansion, { until }: MapUnfolded): void {
  assert(until > expansion.unfolded && until <= expansion.total, 'instances come in order, and once (I34)');
  const view = viewOf(state, run);
  const added = unfoldMap(view, expansion, until, (length, firstNo) => state.tasks.allocate(length, run, firstNo));
  const { members } = expansion.group;
  const closers = members.filter((spec) => view.graph.closing?.has(spec)).length;
  const instances = (added.to - added.from) / members.length;
  resize(state, run, added.to - added.from);
  state.runs.unfinished[run]! += instances * (members.length - closers);
  state.runs.closingLeft[run]! += instances * closers;
  for (let no = added.from; no < added.to; no++) decideAndSettle(view, no);
}

function resize({ runs }: State, run: RunRow, by: number): void {
  runs.size[run]! += by;
  runs.versionOf(run).dag.liveTasks += by;
}

function remove(state: State, run: RunRow, expansion: Expansion): void {
  const { tasks, runs } = state;
  const ownState = (slot: TaskSlot) => hasOwnState(state, slot);
  removeMap(viewOf(state, run), expansion, ownState, (slots) => {
    resize(state, run, -slots.length);
    for (const slot of slots) {
      if (isClosingTask(state, slot)) runs.closingLeft[run]! -= 1;
      else runs.unfinished[run]! -= 1;
      assert(leadingOf(state, slot) === NO_ATTEMPT, 'a map is removed when none of its attempts runs');
      if (tasks.state[slot] === READY) leaveLane(state, slot);
      // Not by a move: it is no task of the run any more.
      tasks.state[slot] = CANCELLED;
    }
  });
}
