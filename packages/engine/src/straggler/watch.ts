/** Which attempts take too long: each that may be speculated upon is looked at from time to time while it runs. */

import type { ClaimRef } from '../command.ts';
import type { SpeculateSpec } from '../dag/spec.ts';
import { CONFIRMED } from '../lease/confirmed.ts';
import { specNoOf, taskNoOf, taskSpecOf } from '../run/task-slots.ts';
import type { State } from '../state.ts';
import { mayRun } from '../task/move.ts';
import { RUNNING } from '../task/task-table.ts';
import { Pace } from './pace.ts';
import { shadowOf } from './seconds.ts';

/** So long a worker other than the one that has the first attempt is waited for. */
export const ALONE_MS = 5_000;
const LOOK_MS = { min: 250, max: 5_000 } as const;

/** Null unless the task is an instance of a map that may have a second attempt. */
export function speculateOf(state: State, slot: number): SpeculateSpec | null {
  const version = state.runs.versionOf(state.tasks.run[slot]!);
  if (!version.speculates || state.tasks.no[slot]! < version.taskCount) return null;
  return taskSpecOf(state, slot).speculate ?? null;
}

/** An attempt has begun, or was loaded: it is looked at once it has run for as long as any may. */
export function watchPace(state: State, slot: number): void {
  const speculate = speculateOf(state, slot);
  if (speculate === null) return;
  const ranMs = state.mono - state.tasks.claimedMono[slot]!;
  push(state, slot, Math.max(speculate.minMs - ranMs, 0));
}

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

/** A sibling has finished. */
export function notePace(state: State, slot: number, tookMs: number): void {
  if (speculateOf(state, slot) === null) return;
  const { paces } = state.stragglers;
  const run = state.tasks.run[slot]!;
  const ofRun = paces.get(run) ?? new Map<number, Pace>();
  paces.set(run, ofRun);
  const no = specNoOf(state, slot);
  const pace = ofRun.get(no) ?? new Pace();
  ofRun.set(no, pace);
  pace.add(Math.max(0, tookMs));
}

/** From when on the running attempt is a straggler; null while nobody can tell. */
function slowAt(state: State, slot: number, speculate: SpeculateSpec): number | null {
  const run = state.tasks.run[slot]!;
  const pace = state.stragglers.paces.get(run)?.get(specNoOf(state, slot));
  const siblings = state.runs.mapsOf(run)?.holding(state.tasks.no[slot]!)?.total ?? 0;
  const limitMs = pace?.limitMs(speculate, siblings) ?? null;
  return limitMs === null ? null : state.tasks.claimedMono[slot]! + limitMs;
}

function push(state: State, slot: number, delayMs: number): void {
  const [subject, taskNo, stamp] = [state.runIdOfTask(slot), taskNoOf(state, slot), state.tasks.fence[slot]!];
  state.timers.push({ at: state.mono + delayMs, kind: 'pace', subject, taskNo, stamp });
}
