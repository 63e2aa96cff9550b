/**
 * What a running attempt may ask of the owner of its task: to keep a checkpoint for the attempt after it, and whether the task
 * is still its own. Both are for the holder of the claim alone (I21), and both are answered when they are committed.
 *
 * Where two attempts of a task run, the checkpoint is that which either saved last.
 *
 * A checkpoint is kept over failed attempts of a task, retries by hand included, until the task has succeeded and is to be run anew.
 */
import { type Answer, RECORDED, refuse } from '../../model/answer.ts';
import type { AssertOwned, ClaimRef, SaveCheckpoint } from '../../model/command.ts';
import { checkpointOf } from '../../tables/run/checkpoints.ts';
import { SET_ASIDE } from '../../tables/run/run-table.ts';
import type { State } from '../../tables/state.ts';
import { findTask, isHeld } from '../../tables/task/find-task.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import { watchOf } from '../../tables/timer/task-timers.ts';
import type { Recorder } from '../recorder.ts';

/** One that was saved already, or is older than the last one that was, changes nothing: it has only taken long (I22). */
export function saveCheckpoint(recorder: Recorder, { claim, no, value }: SaveCheckpoint): Answer {
  const { state } = recorder;
  const slot = heldSlot(state, claim);
  if (slot === null) return notHeld(state, claim);
  const last = checkpointOf(state, state.tasks.run[slot]!, claim.taskNo);
  if (last?.fence === claim.fence && no <= last.no) return RECORDED;
  // Of two attempts that both save, the last one of each must be known, and is while this owner stays.
  if (no <= (state.tasks.watches.get(slot)?.savedNo ?? 0)) return RECORDED;
  const { runId, taskNo, fence } = claim;
  recorder.record({ kind: 'CheckpointSaved', runId, taskNo, fence, no, value, at: state.now });
  if (state.runs.versionOf(state.tasks.run[slot]!).speculates) watchOf(state, slot).savedNo = no;
  return RECORDED;
}

/** An attempt that was told to stop is not to write anything any more, though it still holds the task (I42). */
export function assertOwned(recorder: Recorder, { claim }: AssertOwned): Answer {
  const { state } = recorder;
  const slot = heldSlot(state, claim);
  if (slot === null) return notHeld(state, claim);
  if (!mayRun(state, slot)) return refuse('STALE_TOKEN', 'cancelled');
  const { runId, taskNo, fence } = claim;
  recorder.record({ kind: 'ClaimAsserted', runId, taskNo, fence, at: state.now });
  return RECORDED;
}

export function heldSlot(state: State, claim: ClaimRef): number | null {
  const slot = findTask(state, claim);
  if (slot === null || !isHeld(state, slot, claim)) return null;
  return state.tasks.attemptNo[slot] === claim.attemptNo ? slot : null;
}

export function notHeld(state: State, claim: ClaimRef): Answer {
  const run = state.runs.find(claim.runId);
  if (run >= 0 && state.runs.has(run, SET_ASIDE)) return refuse('RUN_SET_ASIDE');
  return refuse('STALE_TOKEN', `${claim.runId}/${claim.taskNo}`);
}
