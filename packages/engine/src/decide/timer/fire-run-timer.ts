/** Handles a deadline of a whole run. */
import type { Actor, RunId } from '../../model/ids.ts';
import { notesSlow } from '../../model/run/run-notes.ts';
import { OPEN } from '../../tables/run/run-table.ts';
import { isCurrentRunTimer, isDelayed } from '../../tables/timer/run-timers.ts';
import type { Timer } from '../../tables/timer/timer-heap.ts';
import type { Recorder } from '../recorder.ts';
import { finishRun } from '../run/finish.ts';
import { recordClosing } from '../run/record-closing.ts';
import { stopRunning } from '../run/stop-running.ts';

export function fireRunTimer(recorder: Recorder, timer: Timer): void {
  const { state } = recorder;
  const { runs, now } = state;
  if (!isCurrentRunTimer(state, timer)) return;
  const runId = timer.subject as RunId;
  const run = runs.find(runId);
  // Set anew when it goes on.
  if (isDelayed(state, run)) return;
  state.currentRun = runId;
  // Its last task may have ended in this very step: what came first wins.
  finishRun(recorder, run);
  if (runs.phase[run] !== OPEN) return;
  const notes = runs.notes.get(run) ?? {};
  if (timer.kind === 'run_slow') {
    if (notes.slowAt !== undefined) return;
    const text = notesSlow(notes, runs.versionOf(run).graph.closing, now);
    return recorder.record({ kind: 'RunSlow', runId, notes: text, at: now });
  }
  const text = JSON.stringify({ ...notes, timedOutAt: now });
  recorder.record({ kind: 'RunTimedOut', runId, notes: text, at: now });
  recordClosing(recorder, run, { outcome: 'failed', actor: 'system' as Actor });
  stopRunning(recorder, run);
}
