import { kindOf } from '../model/change/kinds.ts';
import type { Change } from '../model/change.ts';
import type { State } from '../tables/state.ts';

/** For kinds that only write rows of described tables, where nothing else in memory follows from them. */
export function applyRows(state: State, change: Change): void {
  kindOf(change).tables?.(change, state.rows);
}
