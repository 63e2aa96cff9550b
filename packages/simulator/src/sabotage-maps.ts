/** Guards of maps, taken out from outside: see `sabotage.test.ts`. */
import type { RunRow, State, TaskSlot } from '@signalbox/engine';

/** Whatever needs a mapped task waits for one instance less than there are. */
export function forgetsOneInstance(seen: Set<string>): (state: State) => void {
  return (state) => {
    const { runs, tasks } = state;
    for (const [run, { expansions }] of runs.maps) {
      const { graph } = runs.versionOf(run);
      for (const { firstNo, group, total } of expansions) {
        const key = `${runs.id[run]}/${firstNo}`;
        if (seen.has(key) || total < 2) continue;
        seen.add(key);
        for (const member of group.members) {
          for (const below of graph.below(member)) {
            if (!group.placeOf.has(below)) tasks.unmet[slotIn(state, run, below)]! -= 1;
          }
        }
      }
    }
  };
}

/** Where the task is that a claim names, also one of a map. */
export function slotIn(state: State, run: RunRow, taskNo: number): TaskSlot {
  const { runs } = state;
  const isOfSpec = taskNo < runs.versionOf(run).taskCount;
  return (isOfSpec ? runs.base[run]! + taskNo : (runs.mapsOf(run)?.slotOf(taskNo) ?? -1)) as TaskSlot;
}
