/** Removes the instances of maps whose source runs again: they are no longer part of the run (I34). */
import type { Actor, RunId, RunRow, TaskSlot } from '../../model/ids.ts';
import { viewOf } from '../../propagate/move.ts';
import { specIn, visitNear } from '../../propagate/run-tasks-view.ts';
import type { Expansion } from '../../tables/map/run-maps.ts';
import type { State } from '../../tables/state.ts';
import { taskNoOf } from '../../tables/task/task-slots.ts';
import type { Recorder } from '../recorder.ts';

/**
 * Those that are fed by one of these tasks, and those that are fed by what goes with them; of nested ones the outermost.
 */
export function mapsFedBy(state: State, run: RunRow, cleared: readonly TaskSlot[]): Expansion[] {
  const view = viewOf(state, run);
  const { maps, graph } = view;
  if (maps === null) return [];
  const found = new Set<Expansion>();
  const sources = cleared.map((slot) => taskNoOf(state, slot) as number);
  for (let no = sources.pop(); no !== undefined; no = sources.pop()) {
    const from = no;
    const source = specIn(view, from);
    const groups = graph.maps?.fedGroups.get(source) ?? [];
    for (const spec of graph.maps?.fed.get(source) ?? []) {
      visitNear(view, from, spec, (placeholder) => {
        // A map around the one that it feeds has another source, and stays.
        const expansion = maps.expansionOf(placeholder);
        if (expansion === undefined || !groups.includes(expansion.group.no) || found.has(expansion)) return;
        found.add(expansion);
        // What they feed outside is the same for all instances of a task, and what they feed inside goes anyway: one speaks for all.
        for (const { firstNo, unfolded, group } of maps.within(expansion)) {
          if (unfolded > 0) sources.push(...group.members.map((_, place) => firstNo + place));
        }
      });
    }
  }
  const inside = new Set([...found].flatMap((one) => maps.within(one).filter((other) => other !== one)));
  return [...found].filter((one) => !inside.has(one));
}

/** The numbers of all that goes with them. */
export function tasksWithin(state: State, run: RunRow, expansions: readonly Expansion[]): Set<number> {
  const maps = state.runs.mapsOf(run);
  const gone = new Set<number>();
  for (const { firstNo, unfolded, group } of expansions.flatMap((one) => maps?.within(one) ?? [])) {
    for (let offset = 0; offset < unfolded * group.members.length; offset++) gone.add(firstNo + offset);
  }
  return gone;
}

export function removeMaps(recorder: Recorder, runId: RunId, expansions: readonly Expansion[], actor: Actor): void {
  const { now } = recorder.state;
  for (const { firstNo } of expansions) recorder.record({ kind: 'MapRemoved', runId, firstNo, actor, at: now });
}
