/**
 * Hooks that run each time that something happens: a retry of a task or a run, or a slow one. The task or run stores how
 * often it has happened; the hook stores which of those times it has handled. So an event that happens while the hook runs
 * is not lost: the hook is cleared when it has ended, and runs again.
 */

import { type ClosingPlan, isRepeating } from '../../model/dag/closing-plan.ts';
import type { Actor, RunRow } from '../../model/ids.ts';
import { IS_GIVEN_UP, SUCCEEDED } from '../../model/task/task-states.ts';
import { timesOf } from '../../propagate/closing-verdict.ts';
import { viewOf } from '../../propagate/move.ts';
import { specIn } from '../../propagate/run-tasks-view.ts';
import type { RunMaps } from '../../tables/map/run-maps.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import { hasOwnState, notesOf } from '../../tables/task/task-notes.ts';
import { slotOf } from '../../tables/task/task-slots.ts';
import { clearTask } from '../manual/clear-task.ts';
import type { Recorder } from '../recorder.ts';

const SYSTEM = 'system' as Actor;

export function refireHooks(recorder: Recorder, run: RunRow): void {
  const { state } = recorder;
  const { closing } = state.runs.versionOf(run).graph;
  if (closing === null || closing.repeating.length === 0) return;
  const view = viewOf(state, run);
  for (const no of hooksToLookAt(closing, view.maps)) {
    const slot = slotOf(state, run, no);
    if (slot < 0 || !isRepeating(closing.find(specIn(view, no)) ?? {})) continue;
    const code = state.tasks.state[slot];
    if ((code !== SUCCEEDED && IS_GIVEN_UP[code!] === 0) || !hasOwnState(state, slot) || !mayRun(state, slot)) continue;
    const firing = (notesOf(state, slot).firing ?? 0) + 1;
    if (timesOf(view, no) <= firing) continue;
    clearTask(recorder, slot, { actor: SYSTEM, fresh: true, more: false, firing });
  }
}

/** Those outside of maps, and of those in maps what was noted; all of them in a run that was loaded. */
function hooksToLookAt({ repeating }: ClosingPlan, maps: RunMaps | null): readonly number[] {
  const hooks = repeating.map(({ no }) => no);
  if (maps === null) return hooks;
  const noted = [...(maps.refires ?? [])];
  if (maps.refires === null) for (const hook of hooks) maps.visit(hook, (no) => noted.push(no));
  maps.refires = new Set();
  return [...new Set([...hooks, ...noted])];
}
