/** Which attempts take too long: each that may be speculated upon is looked at from time to time while it runs. */

import type { ClaimRef } from '../../model/command.ts';
import type { SpeculateSpec } from '../../model/dag/spec.ts';
import { RUNNING } from '../../model/task/task-states.ts';
import { shadowOf } from '../../tables/speculative/seconds.ts';
import { push, speculateOf } from '../../tables/speculative/watch-pace.ts';
import type { State } from '../../tables/state.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import { specNoOf } from '../../tables/task/task-slots.ts';
import { CONFIRMED } from '../../tables/worker/confirmed.ts';

/** So long a worker other than the one that has the first attempt is waited for. */
export const ALONE_MS = 5_000;
const LOOK_MS = { min: 250, max: 5_000 } as const;

export function firePaceTimer(state: State, slot: number, { fence }: Pick<ClaimRef, 'fence'>): void {
  const speculate = speculateOf(state, slot);
  if (speculate === null || !mayHaveSecond(state, slot)) return;
  const dueAt = slowAt(state, slot, speculate);
  const isShown = state.tasks.confirmed[slot] === CONFIRMED;
  if (dueAt !== null && dueAt <= state.mono && isShown) {
    // Waited for long enough: the step goes on to look for any worker.
    if (state.stragglers.wanted.get(slot)?.fence === fence) return;
    state.stragglers.wanted.set(slot, { runId: state.runIdOfTask(slot), fence, since: state.mono });
    push(state, slot, ALONE_MS);
    return;
  }
  const lookMs = Math.min(Math.max(speculate.minMs / 4, LOOK_MS.min), LOOK_MS.max);
  const leftMs = dueAt === null || dueAt <= state.mono ? lookMs : Math.min(dueAt - state.mono, lookMs);
  push(state, slot, leftMs);
}

/** It runs, once; and no second attempt of it has ended while it did. */
export function mayHaveSecond(state: State, slot: number): boolean {
  if (state.tasks.state[slot] !== RUNNING || !mayRun(state, slot) || shadowOf(state, slot) >= 0) return false;
  const over = state.tasks.notes.get(slot)?.second?.over;
  return over === undefined || over === 'returned';
}

/** From when on the running attempt is a straggler; null while nobody can tell. */
function slowAt(state: State, slot: number, speculate: SpeculateSpec): number | null {
  const run = state.tasks.run[slot]!;
  const pace = state.stragglers.paces.get(run)?.get(specNoOf(state, slot));
  const siblings = state.runs.mapsOf(run)?.holding(state.tasks.no[slot]!)?.total ?? 0;
  const limitMs = pace?.limitMs(speculate, siblings) ?? null;
  return limitMs === null ? null : state.tasks.claimedMono[slot]! + limitMs;
}
