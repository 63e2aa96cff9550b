/** The work that is left for the maps of a run. */
import type { RunRow } from '../model/ids.ts';
import { note } from '../tables/map/watch-map.ts';
import type { State } from '../tables/state.ts';
import { viewOf } from './move.ts';
import { decideAndSettle } from './settle.ts';

/** Notes all that is left to do about the maps of an open run: it is admitted, opened again, or loaded. */
export function watchMaps(state: State, run: RunRow): void {
  const maps = state.runs.mapsOf(run)!;
  const view = viewOf(state, run);
  const lookAt = (no: number) => {
    if (maps.waitsFor(no) !== undefined) decideAndSettle(view, no);
  };
  for (let no = 0; no < view.graph.taskCount; no++) lookAt(no);
  maps.forEachSlot((_, no) => lookAt(no));
  for (const { group, scope, unfolded, total } of maps.expansions) {
    if (unfolded < total) note(state, run, group.no, scope);
  }
}
