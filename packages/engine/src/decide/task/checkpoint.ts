/**
 * Requests of a running attempt to the owner of its task: to store a checkpoint for the next attempt, and whether it still
 * owns the task. Only the holder of the claim may ask (I21), and both are answered after a commit.
 *
 * If two attempts of a task run, the checkpoint is the one that either saved last.
 *
 * A checkpoint survives failed attempts, including manual retries, until the task has succeeded and is run again.
 */
import { type Answer, RECORDED, refuse } from '../../model/answer.ts';
import type { AssertOwned, ClaimRef, SaveCheckpoint } from '../../model/command.ts';
import type { AttemptSlot } from '../../model/ids.ts';
import { findAttempt } from '../../tables/attempt/find-attempt.ts';
import { watchOf } from '../../tables/attempt/watch.ts';
import { checkpointOf } from '../../tables/run/checkpoints.ts';
import { SET_ASIDE } from '../../tables/run/run-table.ts';
import type { State } from '../../tables/state.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import type { Recorder } from '../recorder.ts';

/** One that was saved already, or is older than the last one that was, changes nothing: it has only taken long (I22). */
export function saveCheckpoint(recorder: Recorder, { claim, no, value }: SaveCheckpoint): Answer {
  const { state } = recorder;
  const attempt = heldAttempt(state, claim);
  if (attempt === null) return notHeld(state, claim);
  const run = state.tasks.run[state.attempts.task[attempt]!]!;
  const last = checkpointOf(state, run, claim.taskNo);
  if (last?.fence === claim.fence && no <= last.no) return RECORDED;
  // Of two attempts that both save, the last one of each must be known, and is while this owner stays.
  if (no <= (state.attempts.watches.get(attempt)?.savedNo ?? 0)) return RECORDED;
  const { runId, taskNo, fence } = claim;
  recorder.record({ kind: 'CheckpointSaved', runId, taskNo, fence, no, value, at: state.now });
  const watch = watchOf(state, attempt);
  watch.savedAt = state.mono;
  if (state.runs.versionOf(run).speculates) watch.savedNo = no;
  return RECORDED;
}

/** An attempt that was told to stop is not to write anything any more, though it still holds the task (I42). */
export function assertOwned(recorder: Recorder, { claim }: AssertOwned): Answer {
  const { state } = recorder;
  const attempt = heldAttempt(state, claim);
  if (attempt === null) return notHeld(state, claim);
  if (!mayRun(state, state.attempts.task[attempt]!)) return refuse('STALE_TOKEN', 'cancelled');
  const { runId, taskNo, fence } = claim;
  recorder.record({ kind: 'ClaimAsserted', runId, taskNo, fence, at: state.now });
  return RECORDED;
}

export function heldAttempt(state: State, claim: ClaimRef): AttemptSlot | null {
  const attempt = findAttempt(state, claim);
  return attempt === null || state.attempts.attemptNo[attempt] !== claim.attemptNo ? null : attempt;
}

export function notHeld(state: State, claim: ClaimRef): Answer {
  const run = state.runs.find(claim.runId);
  if (run >= 0 && state.runs.has(run, SET_ASIDE)) return refuse('RUN_SET_ASIDE');
  return refuse('STALE_TOKEN', `${claim.runId}/${claim.taskNo}`);
}
