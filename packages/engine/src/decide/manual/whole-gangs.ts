/** What is done by hand to one member of a gang is done to all of them: they begin together or not at all. */
import type { TaskSlot } from '../../model/ids.ts';
import type { State } from '../../tables/state.ts';
import { isMember, membersOf } from '../../tables/task/gang.ts';

/** These tasks, and with each member of a gang the others of which this holds. */
export function withGangs(
  state: State,
  chosen: readonly TaskSlot[],
  isToo: (slot: TaskSlot) => boolean,
): readonly TaskSlot[] {
  const members = chosen.filter((slot) => isMember(state, slot));
  if (members.length === 0) return chosen;
  const all = new Set(chosen);
  for (const slot of members) {
    for (const other of membersOf(state, slot) ?? []) if (!all.has(other) && isToo(other)) all.add(other);
  }
  return [...all].sort((a, b) => a - b);
}
