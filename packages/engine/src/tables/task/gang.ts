/** The members of a gang: the instances of a mapped task that begin together or not at all. */

import type { TaskSlot } from '../../model/ids.ts';
import type { GangSpec } from '../../model/placement.ts';
import { type Expansion, numberIn } from '../map/run-maps.ts';
import type { State } from '../state.ts';
import { specNoOf, taskSpecOf } from './task-slots.ts';
import { NO_TASK } from './task-table.ts';

export function isMember(state: State, slot: TaskSlot): boolean {
  return gangSpecOf(state, slot) !== undefined;
}

export function gangSpecOf(state: State, slot: TaskSlot): GangSpec | undefined {
  const { runs, tasks } = state;
  return runs.versionOf(tasks.run[slot]!).hasGangs ? taskSpecOf(state, slot).placement?.gang : undefined;
}

/** In the order of their ranks; null while some of them are not there. */
export function membersOf(state: State, slot: TaskSlot): readonly TaskSlot[] | null {
  const expansion = expansionOf(state, slot);
  if (expansion === undefined || expansion.unfolded < expansion.total) return null;
  const spec = specNoOf(state, slot);
  const maps = state.runs.mapsOf(state.tasks.run[slot]!)!;
  return Array.from({ length: expansion.total }, (_, rank) => maps.slotOf(numberIn(expansion, rank, spec)));
}

export function firstOfGang(state: State, slot: TaskSlot): TaskSlot {
  const expansion = expansionOf(state, slot);
  if (expansion === undefined) return NO_TASK;
  const maps = state.runs.mapsOf(state.tasks.run[slot]!)!;
  return maps.slotOf(numberIn(expansion, 0, specNoOf(state, slot)));
}

function expansionOf({ runs, tasks }: State, slot: TaskSlot): Expansion | undefined {
  const no = tasks.no[slot]!;
  const run = tasks.run[slot]!;
  return no < runs.versionOf(run).taskCount ? undefined : runs.mapsOf(run)?.holding(no);
}
