import { assert } from '../model/assert.ts';
import { haltedDags } from '../model/change/halt.ts';
import type { DagHalted, DagResumed } from '../model/change.ts';
import { READY } from '../model/task/task-states.ts';
import { watchMaps } from '../propagate/watch-maps.ts';
import type { Dag } from '../tables/dag/dag.ts';
import { updateLanes } from '../tables/queue/enqueue.ts';
import { ADMITTED, OPEN } from '../tables/run/run-table.ts';
import type { State } from '../tables/state.ts';
import { isCall } from '../tables/task/is-call.ts';
import { forEachSlot } from '../tables/task/task-slots.ts';
import { applyRows } from './apply-rows.ts';

export function applyHalt(state: State, change: DagHalted | DagResumed): void {
  applyRows(state, change);
  const dag = state.dags.get(change.dagId);
  assert(dag !== undefined, `${change.kind} is about a dag in memory`);
  dag.isHalted = change.kind === 'DagHalted';
  dag.touchedIn = state.batchNo;
  if (!dag.isHalted) letGo(state, dag);
  updateLanes(dag);
}

/** A dag that comes into memory. */
export function restoreHalt({ rows }: State, dag: Dag): void {
  dag.isHalted = rows.get(haltedDags, { shard: dag.shard, dagId: dag.id }) !== undefined;
}

/** Maps and calls were dropped from the agenda while it was halted. */
function letGo(state: State, dag: Dag): void {
  dag.fanOut.reset();
  const { runs, tasks } = state;
  for (const run of runs.rows()) {
    const version = runs.versionOf(run);
    if (version.dag !== dag || !runs.has(run, ADMITTED)) continue;
    if (runs.phase[run] === OPEN && version.graph.maps !== null) watchMaps(state, run);
    if (version.graph.isCall === null) continue;
    forEachSlot(state, run, (slot) => {
      if (tasks.state[slot] === READY && isCall(state, slot)) state.agenda.calls.add(slot);
    });
  }
}
