import { type Answer, refuse } from '../../model/answer.ts';
import type { CancelRun } from '../../model/command.ts';
import type { Actor, RunRow } from '../../model/ids.ts';
import type { RunOutcome } from '../../model/run/phase.ts';
import { RUN_OUTCOMES } from '../../model/run/phase.ts';
import { RUNNING } from '../../model/task/task-states.ts';
import { CLOSING, ENDED, FORCED, SET_ASIDE } from '../../tables/run/run-table.ts';
import { waitsForChild } from '../../tables/task/is-call.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import { forEachSlot } from '../../tables/task/task-slots.ts';
import { liftPause } from '../manual/pause.ts';
import { stopAttempts } from '../manual/stop-attempts.ts';
import type { Recorder } from '../recorder.ts';
import { finishRun } from './finish.ts';
import { recordClosing } from './record-closing.ts';
import { stopRunning } from './stop-running.ts';

/**
 * Cancel wins: from its commit on nothing ordinary of the run begins, and no report makes it succeed. What closes the run still
 * runs; with `force` that is ended too (I42).
 */
export function cancelRun(recorder: Recorder, command: CancelRun): Answer {
  const { state } = recorder;
  const { runs } = state;
  const run = runs.find(command.runId);
  if (run < 0 || runs.phase[run] === ENDED) return answerForEnded(recorder, command, run);
  if (runs.versionOf(run).dag.tenantId !== command.tenantId) return refuse('RUN_NOT_FOUND');
  // All its tasks, or one that it must not outlive, may have ended in this step or the last: what came first wins (I42).
  finishRun(recorder, run);
  if (runs.phase[run] === ENDED) return answerForEnded(recorder, command, run);
  const { runId, actor } = command;
  const wasClosing = runs.phase[run] === CLOSING;
  liftPause(recorder, run, actor);
  if (!wasClosing) {
    recordClosing(recorder, run, { outcome: 'cancelled', ...graceOf(command), actor });
  }
  const isForceable = runs.closingLeft[run]! > 0 || waitsForChild(state, run);
  const isForced = command.force === true && isForceable && !runs.has(run, FORCED);
  if (isForced) recorder.record({ kind: 'RunForced', runId, actor, at: state.now });
  if (command.force === true) endAtOnce(recorder, run, actor);
  if (!wasClosing || isForced) stopRunning(recorder, run);
  const outcome = RUN_OUTCOMES[runs.outcome[run]! - 1]!;
  return isForced ? { ok: true, kind: 'cancelled', outcome } : closingAnswer(outcome);
}

/** The longest time that a cancelled attempt may be given. */
export const MAX_GRACE_MS = 3_600_000;

function graceOf({ graceMs }: CancelRun): { readonly graceMs?: number } {
  return graceMs === undefined ? {} : { graceMs: Math.min(Math.max(0, graceMs), MAX_GRACE_MS) };
}

/** With force nobody is waited for: tokens are void, workers are told, and what still runs there is nobody's any more (I42). */
function endAtOnce(recorder: Recorder, run: RunRow, actor: Actor): void {
  const { state } = recorder;
  forEachSlot(state, run, (slot) => {
    if (state.tasks.state[slot] === RUNNING && !mayRun(state, slot)) stopAttempts(recorder, slot, actor);
  });
}

function closingAnswer(outcome: RunOutcome): Answer {
  // A run that is closing for another reason was completed first (I42); cancelling twice is one cancel.
  return outcome === 'cancelled' ? { ok: true, kind: 'cancelled', outcome } : refuse('RUN_ENDED', outcome);
}

function answerForEnded(recorder: Recorder, command: CancelRun, run: RunRow): Answer {
  const { runs } = recorder.state;
  if (run >= 0) {
    if (runs.versionOf(run).dag.tenantId !== command.tenantId) return refuse('RUN_NOT_FOUND');
    if (runs.has(run, SET_ASIDE)) return refuse('RUN_SET_ASIDE');
    return closingAnswer(RUN_OUTCOMES[runs.outcome[run]! - 1]!);
  }
  const stored = recorder.endedRuns.get(command.runId);
  if (stored === undefined || stored.tenantId !== command.tenantId) return refuse('RUN_NOT_FOUND');
  // Live, and yet not in memory: it can't be loaded, and is about to be set aside.
  if (stored.setAside || stored.phase !== 'ended') return refuse('RUN_SET_ASIDE');
  return closingAnswer(stored.outcome ?? 'failed');
}
