/**
 * One more attempt, by hand. Two changes say all of it: `RunReopened` for a run that had ended, `TaskCleared` for the task;
 * whatever else a person may do to a run (clear with what is behind it, rerun what failed) is more of the second.
 */
import { type Answer, DONE, type RetryTask, refuse } from '../command.ts';
import type { Actor, AttemptNo, Fence, RunId } from '../ids.ts';
import type { Recorder } from '../recorder.ts';
import { finishRun } from '../run/finish.ts';
import { RUN_OUTCOMES } from '../run/phase.ts';
import { bringBack, reopenRun } from '../run/reopen.ts';
import { CLOSING, OPEN, SET_ASIDE } from '../run/run-table.ts';
import { forEachSlot, slotOf, taskNoOf } from '../run/task-slots.ts';
import { hasOwnState } from './move.ts';
import { NO_NOTES, notesOf, noting } from './notes.ts';
import { CANCELLED, FAILED, RETRYING, TASK_STATE_NAMES } from './task-table.ts';

export function retryTask(recorder: Recorder, command: RetryTask): Answer {
  const { state } = recorder;
  const { runs, tasks } = state;
  const run = findRun(recorder, command);
  if (typeof run !== 'number') return run;
  const { dag } = runs.versionOf(run);
  if (dag.tenantId !== command.tenantId) return refuse('RUN_NOT_FOUND');
  if (runs.has(run, SET_ASIDE)) return refuse('RUN_SET_ASIDE');
  const slot = slotOf(state, run, command.taskNo);
  if (slot < 0) return refuse('TASK_NOT_FOUND', String(command.taskNo));
  if (RUN_OUTCOMES[runs.outcome[run]! - 1] === 'cancelled') return refuse('RUN_ENDED', 'cancelled');
  const from = tasks.state[slot]!;
  if (from !== FAILED && from !== RETRYING) {
    return refuse('TASK_NOT_RETRYABLE', `it is ${TASK_STATE_NAMES[from]}`);
  }
  if (!hasOwnState(state, slot)) return refuse('TASK_NOT_RETRYABLE', 'its condition has no answer');
  // Its outcome was fixed in an earlier commit, its end is not stored yet: first things first.
  if (runs.phase[run] === CLOSING) finishRun(recorder, run);
  // Closed by a failure, and what it has stopped still runs: what becomes of that is not known yet.
  if (runs.phase[run] === CLOSING) return refuse('TASK_NOT_RETRYABLE', 'its run is closing');
  if (runs.phase[run] !== OPEN) {
    reopenRun(recorder, run, command.actor);
    clearStopped(recorder, run, command.actor);
  }
  clearTask(recorder, slot, command.actor);
  return DONE;
}

/** The run in memory, brought there if it has ended; or the refusal. */
function findRun(recorder: Recorder, { runId, tenantId }: RetryTask): number | Answer {
  const run = recorder.state.runs.find(runId);
  if (run >= 0) return run;
  const stored = recorder.endedRuns.get(runId);
  if (stored === undefined || stored.tenantId !== tenantId) return refuse('RUN_NOT_FOUND');
  // Live, and yet not in memory: it can't be loaded, and is about to be set aside.
  if (stored.setAside || stored.phase !== 'ended') return refuse('RUN_SET_ASIDE');
  if (stored.outcome === 'cancelled') return refuse('RUN_ENDED', 'cancelled');
  return bringBack(recorder, stored);
}

/** The failure that closed the run has stopped others in their course: they go on as well. */
function clearStopped(recorder: Recorder, run: number, actor: Actor): void {
  const { state } = recorder;
  forEachSlot(state, run, (slot) => {
    if (state.tasks.state[slot] === CANCELLED) clearTask(recorder, slot, actor);
  });
}

/** A task that ended begins with fresh budgets; one that only waits keeps what is left of its own (I39). */
function clearTask(recorder: Recorder, slot: number, actor: Actor): void {
  const { tasks, runs, now } = recorder.state;
  const run = tasks.run[slot]!;
  const hasFailed = tasks.state[slot] === FAILED;
  const isWaiting = !hasFailed && tasks.retryAt[slot] !== 0;
  recorder.record({
    kind: 'TaskCleared',
    runId: runs.id[run] as RunId,
    taskNo: taskNoOf(recorder.state, slot),
    attemptNo: tasks.attemptNo[slot] as AttemptNo,
    fence: tasks.fence[slot] as Fence,
    from: hasFailed ? 'failed' : isWaiting ? 'retrying' : 'cancelled',
    freshBudget: !isWaiting,
    actor,
    at: now,
    // What an attempt needs of memory it needs, whoever asked for it.
    ...(isWaiting ? NO_NOTES : noting(notesOf(recorder.state, slot), { counts: undefined })),
  });
}
