/** Which maps there is something to do about: noted when it becomes so, done before the step ends or in the next ones. */
import type { RunId } from '../../model/ids.ts';
import type { State } from '../state.ts';

/** What this placeholder waits for has ended: its map can be expanded. */
export function watchMap(state: State, run: number, placeholder: number): void {
  const maps = state.runs.mapsOf(run)!;
  note(state, run, maps.waitsFor(placeholder)!.no, maps.scopeOf(placeholder));
}

export function note({ agenda, runs }: State, run: number, group: number, scope: number): void {
  const runId = runs.id[run] as RunId;
  agenda.maps.set(`${runId}/${group}/${scope}`, { runId, group, scope });
}
