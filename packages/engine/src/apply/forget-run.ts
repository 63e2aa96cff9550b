/** Removes runs from the working set. */
import type { RunRow } from '../model/ids.ts';
import type { Version } from '../tables/dag/dag.ts';
import { pagesOf } from '../tables/map/run-maps.ts';
import { forgetLanes } from '../tables/queue/enqueue.ts';
import type { State } from '../tables/state.ts';

/** Forgets runs whose end is in the database: from now on they are found there. */
export function forgetSettledRuns(state: State): void {
  const { lingering } = state;
  let settled = 0;
  while (settled < lingering.length && lingering[settled]!.batchNo <= state.settledBatchNo) {
    forgetRun(state, lingering[settled]!.run);
    settled += 1;
  }
  if (settled > 0) lingering.splice(0, settled);
}

export function forgetRun(state: State, run: RunRow): void {
  const { runs, tasks } = state;
  const version = runs.versionOf(run);
  if (version.hasOwnLimits) forgetLanes(state, run);
  state.speculation.paces.delete(run);
  if (version.notesWorkers) state.ranOn.delete(run);
  if (state.past.isUsed) state.past.remove(run);
  state.agenda.past.delete(run);
  state.requires.remove(run);
  tasks.release(runs.base[run]!, version.room);
  if (version.graph.maps !== null) {
    for (const { base, length } of pagesOf(runs.mapsOf(run)!)) tasks.release(base, length);
  }
  forgetVersionIfUnused(version.origin);
  runs.remove(run);
}

export function forgetVersionIfUnused(version: Version): void {
  const { dag, no } = version;
  if (version.liveRuns === 0 && dag.current !== version && dag.versions.get(no) === version) dag.versions.delete(no);
}
