/**
 * Tasks that still wait for a slot at the end of a step and have a limit for that. Since when they wait is stored, because
 * no other row tells it. A task that is claimed in the step in which it became ready costs nothing here.
 */

import { notesWith } from '../../model/task/notes.ts';
import { READY } from '../../model/task/task-states.ts';
import { hasRow, notesOf } from '../../tables/task/task-notes.ts';
import { taskNoOf, taskSpecOf } from '../../tables/task/task-slots.ts';
import { queuedSince } from '../../tables/timer/task-timers.ts';
import type { Recorder } from '../recorder.ts';

export function noteQueued(recorder: Recorder): void {
  const { state } = recorder;
  const { queued } = state.agenda;
  for (const slot of queued) {
    if (recorder.isFull()) return;
    queued.delete(slot);
    // The slot may be another task's by now: that has its own entry where it waits.
    if (state.tasks.run[slot]! < 0 || state.tasks.state[slot] !== READY) continue;
    if (taskSpecOf(state, slot).queueTimeoutMs === undefined || queuedSince(state, slot) !== undefined) continue;
    const runId = state.runIdOfTask(slot);
    state.currentRun = runId;
    recorder.record({
      kind: 'TaskQueued',
      runId,
      taskNo: taskNoOf(state, slot),
      isNew: !hasRow(state, slot),
      notes: notesWith(notesOf(state, slot), { queuedAt: state.now }),
      at: state.now,
    });
  }
}
