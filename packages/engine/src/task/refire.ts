/**
 * Hooks that run each time that something happens: a task or the run is tried again, or is slow. How often it has happened is
 * stored with the task or the run; which of those times a hook has been about is kept with the hook. So one that comes while the
 * hook runs is not lost: when that has ended it is cleared for the next.
 */

import { clearTask } from '../hands/clear.ts';
import type { Actor } from '../ids.ts';
import type { Recorder } from '../recorder.ts';
import { slotOf } from '../run/task-slots.ts';
import type { State } from '../state.ts';
import { timesOf, wakeRepeating } from './closing.ts';
import { fieldOf, hasOwnState, mayRun, standingOf } from './move.ts';
import { notesOf } from './notes.ts';
import { FAILED, SUCCEEDED } from './task-table.ts';

const SYSTEM = 'system' as Actor;

/**
 * The task, or the run, is to be tried again or is slow, or a task of a run with such hooks has ended: they are looked at when
 * the step is done.
 */
export function noteRepeats(state: State, run: number, taskNo: number | null): void {
  const { closing } = state.runs.versionOf(run).graph;
  if (closing === null || closing.repeating.length === 0) return;
  wakeRepeating(fieldOf(state, run), taskNo);
  state.agenda.runs.add(run);
}

export function refireHooks(recorder: Recorder, run: number): void {
  const { state } = recorder;
  const { closing } = state.runs.versionOf(run).graph;
  if (closing === null || closing.repeating.length === 0) return;
  const standing = standingOf(state, run);
  for (const hook of closing.repeating) {
    const slot = slotOf(state, run, hook.no);
    const code = state.tasks.state[slot];
    if ((code !== SUCCEEDED && code !== FAILED) || !hasOwnState(state, slot) || !mayRun(state, slot)) continue;
    const firing = (notesOf(state, slot).firing ?? 0) + 1;
    if (timesOf(standing, state.runs.base[run]!, hook) <= firing) continue;
    clearTask(recorder, slot, { actor: SYSTEM, fresh: true, more: false, firing });
  }
}
