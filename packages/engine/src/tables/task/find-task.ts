/** From a claim to the slot of its task. */

import type { ClaimRef } from '../../model/command.ts';
import { HOLDS_CLAIM } from '../../model/task/task-states.ts';
import { ENDED } from '../run/run-table.ts';
import { holderOf } from '../speculative/seconds.ts';
import type { State } from '../state.ts';
import { slotOf } from './task-slots.ts';

/** The slot of a task in memory, or null. Where two attempts of it run, that of the one that is meant. */
export function findTask(
  state: State,
  claim: Pick<ClaimRef, 'runId' | 'taskNo'> & { readonly fence?: number },
): number | null {
  const run = state.runs.find(claim.runId);
  const slot = run < 0 ? -1 : slotOf(state, run, claim.taskNo);
  if (slot < 0) return null;
  return claim.fence === undefined ? slot : holderOf(state, slot, claim.fence);
}

export function isHeld(state: State, slot: number, claim: Pick<ClaimRef, 'fence'>): boolean {
  const run = state.tasks.run[slot]!;
  if (state.runs.phase[run] === ENDED) return false;
  const code = state.tasks.state[slot]!;
  return HOLDS_CLAIM[code] === 1 && state.tasks.fence[slot] === claim.fence;
}
