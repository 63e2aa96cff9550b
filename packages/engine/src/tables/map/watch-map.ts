/** Which maps need work. They are noted when that happens, and handled before the step ends or in the next steps. */
import type { RunRow } from '../../model/ids.ts';
import type { State } from '../state.ts';

/** What this placeholder waits for has ended: its map can be expanded. */
export function watchMap(state: State, run: RunRow, placeholder: number): void {
  const maps = state.runs.mapsOf(run)!;
  note(state, run, maps.waitsFor(placeholder)!.no, maps.scopeOf(placeholder));
}

export function note({ agenda, runs }: State, run: RunRow, group: number, scope: number): void {
  const runId = runs.id[run]!;
  agenda.maps.set(`${runId}/${group}/${scope}`, { runId, group, scope });
}
