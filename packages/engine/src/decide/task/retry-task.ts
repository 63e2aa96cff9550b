/** A manual retry: at once for a task that waits for its backoff, with fresh budgets for one that failed. */

import { type Answer, DONE, refuse } from '../../model/answer.ts';
import type { RetryTask } from '../../model/command.ts';
import type { Actor, RunRow, TaskSlot } from '../../model/ids.ts';
import { RUN_OUTCOMES } from '../../model/run/phase.ts';
import { AWAITS_RETRY, CANCELLED, IS_GIVEN_UP, TASK_STATE_NAMES } from '../../model/task/task-states.ts';
import { CLOSING, ENDED, OPEN } from '../../tables/run/run-table.ts';
import { isClosingTask, mayRun } from '../../tables/task/may-run.ts';
import { hasOwnState } from '../../tables/task/task-notes.ts';
import { forEachSlot, slotOf } from '../../tables/task/task-slots.ts';
import { clearSlots, goOn } from '../manual/clear-slots.ts';
import { clearTask } from '../manual/clear-task.ts';
import { findRun } from '../manual/manually.ts';
import { withGangs } from '../manual/whole-gangs.ts';
import type { Recorder } from '../recorder.ts';
import { finishRun } from '../run/finish.ts';
import { reopenAsClosing } from '../run/reopen.ts';

export function retryTask(recorder: Recorder, command: RetryTask): Answer {
  const { state } = recorder;
  const { runs, tasks } = state;
  const { actor } = command;
  const run = findRun(recorder, command, { cancelledToo: true });
  if (typeof run !== 'number') return run;
  const slot = slotOf(state, run, command.taskNo);
  if (slot < 0) return refuse('TASK_NOT_FOUND', String(command.taskNo));
  if (isClosingTask(state, slot)) return retryClosing(recorder, run, slot, actor);
  if (RUN_OUTCOMES[runs.outcome[run]! - 1] === 'cancelled') return refuse('RUN_ENDED', 'cancelled');
  const from = tasks.state[slot]!;
  // Stopped because the run's time was over: where a failure has closed it, that is what is to be retried.
  const isStopped = from === CANCELLED && runs.phase[run] !== OPEN && runs.failed[run] === 0;
  if (IS_GIVEN_UP[from] === 0 && AWAITS_RETRY[from] === 0 && !isStopped) {
    return refuse('TASK_NOT_RETRYABLE', `it is ${TASK_STATE_NAMES[from]}`);
  }
  if (!isStopped && !hasOwnState(state, slot)) return refuse('TASK_NOT_RETRYABLE', 'its condition cannot be evaluated');
  // Its outcome was fixed in an earlier commit, its end is not stored yet: first things first.
  if (runs.phase[run] === CLOSING) finishRun(recorder, run);
  // Closed by a failure, and what it has stopped still runs: what becomes of that is not known yet.
  if (runs.phase[run] === CLOSING) return refuse('TASK_NOT_RETRYABLE', 'its run is closing');
  if (AWAITS_RETRY[from] === 1) {
    const waiting = withGangs(state, [slot], (other) => AWAITS_RETRY[tasks.state[other]!] === 1);
    waiting.forEach((one, i) => clearTask(recorder, one, { actor, fresh: false, more: i < waiting.length - 1 }));
    return DONE;
  }
  if (isStopped) {
    goOn(recorder, run, actor);
    return DONE;
  }
  return (
    clearSlots(recorder, run, runs.phase[run] === OPEN ? [slot] : withItsLike(recorder, run, slot), {
      force: false,
      actor,
    }) ?? DONE
  );
}

/** What closes a run decides nothing: it runs again by itself, and the run keeps its outcome, also one that was cancelled. */
function retryClosing(recorder: Recorder, run: RunRow, slot: TaskSlot, actor: Actor): Answer {
  const { state } = recorder;
  const { runs, tasks } = state;
  const from = tasks.state[slot]!;
  if (IS_GIVEN_UP[from] === 0 && AWAITS_RETRY[from] === 0) {
    return refuse('TASK_NOT_RETRYABLE', `it is ${TASK_STATE_NAMES[from]}`);
  }
  // Of a mapped one its instances have failed, and are to be retried.
  if (!hasOwnState(state, slot)) return refuse('TASK_NOT_RETRYABLE', 'its condition cannot be evaluated');
  if (runs.phase[run] === CLOSING) finishRun(recorder, run);
  if (runs.phase[run] === ENDED) reopenAsClosing(recorder, run, actor);
  if (!mayRun(state, slot)) return refuse('TASK_NOT_RETRYABLE', 'its run was cancelled with force');
  clearTask(recorder, slot, { actor, fresh: IS_GIVEN_UP[from] === 1, more: false });
  return DONE;
}

/** Under `fail_fast` each failure closes the run: with one of them left it would close again at once. */
function withItsLike({ state }: Recorder, run: RunRow, slot: TaskSlot): TaskSlot[] {
  if (!state.runs.versionOf(run).graph.isFailFast) return [slot];
  const failed: TaskSlot[] = [];
  forEachSlot(state, run, (other) => {
    if (IS_GIVEN_UP[state.tasks.state[other]!] === 0 || !hasOwnState(state, other)) return;
    if (!isClosingTask(state, other)) failed.push(other);
  });
  return failed;
}
