/** Which hooks may have to run again. */
import type { RunRow } from '../model/ids.ts';
import type { State } from '../tables/state.ts';
import { repeatingOf, wakeRepeating } from './closing.ts';
import { viewOf } from './move.ts';

/**
 * The task, or the run, is to be tried again or is slow, or a task of a run with such hooks has ended: they are looked at when
 * the step is done.
 */
export function noteRepeats(state: State, run: RunRow, taskNo: number | null): void {
  const { closing } = state.runs.versionOf(run).graph;
  if (closing === null || closing.repeating.length === 0) return;
  const view = viewOf(state, run);
  wakeRepeating(view, taskNo);
  if (view.maps !== null && taskNo !== null) {
    // The hook itself may have ended, and have to run again.
    for (const hook of [taskNo, ...repeatingOf(view, taskNo)]) view.maps.refires?.add(hook);
  }
  state.agenda.runs.add(run);
}
