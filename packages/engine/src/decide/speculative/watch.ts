/** Finds attempts that take too long: each attempt that may have a speculative one is checked from time to time while it runs. */

import type { SpeculateSpec } from '../../model/dag/spec.ts';
import type { AttemptSlot } from '../../model/ids.ts';
import { RUNNING } from '../../model/task/task-states.ts';
import { NO_ATTEMPT } from '../../tables/attempt/attempt-table.ts';
import { claimOf } from '../../tables/attempt/claim-of.ts';
import { CONFIRMED } from '../../tables/attempt/confirmed.ts';
import { besideOf } from '../../tables/attempt/find-attempt.ts';
import { wantSpeculative } from '../../tables/speculative/wanted.ts';
import { speculateOf } from '../../tables/speculative/watch-pace.ts';
import type { State } from '../../tables/state.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import { notesOf } from '../../tables/task/task-notes.ts';
import { specNoOf } from '../../tables/task/task-slots.ts';
import { setTaskTimer } from '../../tables/timer/set-task-timer.ts';

/** So long a worker other than the one that has the first attempt is waited for. */
export const ALONE_MS = 5_000;
const LOOK_MS = { min: 250, max: 5_000 } as const;

export function firePaceTimer(state: State, attempt: AttemptSlot): void {
  const { wanted } = state.speculation;
  const speculate = speculateOf(state, state.attempts.task[attempt]!);
  if (speculate === null || !maySpeculate(state, attempt)) return;
  const dueAt = slowAt(state, attempt, speculate);
  const isShown = state.attempts.confirmed[attempt] === CONFIRMED;
  const lookAgain = (delayMs: number) => setTaskTimer(state, 'pace', delayMs, claimOf(state, attempt));
  if (dueAt !== null && dueAt <= state.mono && isShown) {
    // Waited for long enough: the step goes on to look for any worker.
    if (wanted.has(attempt)) return;
    wantSpeculative(state, attempt);
    return lookAgain(ALONE_MS);
  }
  const lookMs = Math.min(Math.max(speculate.minMs / 4, LOOK_MS.min), LOOK_MS.max);
  lookAgain(dueAt === null || dueAt <= state.mono ? lookMs : Math.min(dueAt - state.mono, lookMs));
}

/** It runs alone; and no speculative attempt has ended beside it. */
export function maySpeculate(state: State, attempt: AttemptSlot): boolean {
  const slot = state.attempts.task[attempt]!;
  if (state.tasks.state[slot] !== RUNNING || !mayRun(state, slot)) return false;
  const over = notesOf(state, slot).speculativeAttempt?.over;
  return besideOf(state, attempt) === NO_ATTEMPT && (over === undefined || over === 'returned');
}

/** From when on the attempt takes too long; null while nobody can tell. */
function slowAt(state: State, attempt: AttemptSlot, speculate: SpeculateSpec): number | null {
  const slot = state.attempts.task[attempt]!;
  const run = state.tasks.run[slot]!;
  const pace = state.speculation.paces.get(run)?.get(specNoOf(state, slot));
  const siblings = state.runs.mapsOf(run)?.holding(state.tasks.no[slot]!)?.total ?? 0;
  const limitMs = pace?.limitMs(speculate, siblings) ?? null;
  return limitMs === null ? null : state.attempts.claimedMono[attempt]! + limitMs;
}
