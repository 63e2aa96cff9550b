/**
 * Hooks that run for each retry of a task. How often a task was tried again follows from its row; which of those a hook has been
 * about is kept with the hook. So one that comes while the hook runs is not lost: when that has ended it is cleared for the next.
 */

import { clearTask } from '../hands/clear.ts';
import type { Actor } from '../ids.ts';
import type { Recorder } from '../recorder.ts';
import { slotOf } from '../run/task-slots.ts';
import type { State } from '../state.ts';
import { wakeOnRetry } from './closing.ts';
import { fieldOf, hasOwnState, mayRun, retriesOf } from './move.ts';
import { notesOf } from './notes.ts';
import { FAILED, SUCCEEDED } from './task-table.ts';

const SYSTEM = 'system' as Actor;

/** The task is to be tried again, or a task of a run with such hooks has ended: they are looked at when the step is done. */
export function noteRetries(state: State, run: number, slot: number): void {
  const { closing } = state.runs.versionOf(run).graph;
  if (closing === null || closing.onRetry.size === 0) return;
  wakeOnRetry(fieldOf(state, run), state.tasks.no[slot]!);
  state.agenda.runs.add(run);
}

export function refireHooks(recorder: Recorder, run: number): void {
  const { state } = recorder;
  const { closing } = state.runs.versionOf(run).graph;
  for (const [of, no] of closing?.onRetry ?? []) {
    const slot = slotOf(state, run, no);
    const code = state.tasks.state[slot];
    if ((code !== SUCCEEDED && code !== FAILED) || !hasOwnState(state, slot) || !mayRun(state, slot)) continue;
    const firing = (notesOf(state, slot).firing ?? 0) + 1;
    if (retriesOf(state, slotOf(state, run, of)) <= firing) continue;
    clearTask(recorder, slot, { actor: SYSTEM, fresh: true, more: false, firing });
  }
}
