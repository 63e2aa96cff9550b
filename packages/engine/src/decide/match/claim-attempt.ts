/**
 * Claims a task: the one way in which an attempt begins. A claim is one change and one assignment; the worker's slot, the dag's
 * limit and the task are taken in the same commit (I44).
 */
import type { AttemptClaimed } from '../../model/change.ts';
import type { ClaimDecision } from '../../model/decision.ts';
import { type AttemptNo, type Fence, NOBODY, type TaskSlot } from '../../model/ids.ts';
import type { Booking } from '../../model/placement.ts';
import { notesWith } from '../../model/task/notes.ts';
import { CLAIMED } from '../../tables/run/run-table.ts';
import { lastAttemptNo, lastFence } from '../../tables/speculative/notes.ts';
import { hasRow, notesOf } from '../../tables/task/task-notes.ts';
import { taskNoOf } from '../../tables/task/task-slots.ts';
import { notesOfClaim } from '../../tables/timer/task-timers.ts';
import { watchLease } from '../../tables/worker/lease.ts';
import type { Worker } from '../../tables/worker/worker-table.ts';
import { beginProbe, passGate } from '../breaker/pass.ts';
import { useRates } from '../limit/use-rate.ts';
import type { Recorder } from '../recorder.ts';
import { sendAssignment } from './send-assignment.ts';

/**
 * `worker` is null for a task that runs another dag: it waits without a slot (I54). A speculative attempt runs beside the leading
 * one, and no breaker learns from it.
 */
export function claimAttempt(
  recorder: Recorder,
  slot: TaskSlot,
  worker: Worker | null,
  kind: 'leading' | 'speculative' = 'leading',
  booking: Booking | null = null,
  decision: ClaimDecision | null = null,
): void {
  const { state } = recorder;
  const { runs } = state;
  const run = state.tasks.run[slot]!;
  const runId = runs.id[run]!;
  state.currentRun = runId;
  const claim = {
    runId,
    taskNo: taskNoOf(state, slot),
    attemptNo: (lastAttemptNo(state, slot) + 1) as AttemptNo,
    fence: (lastFence(state, slot) + 1) as Fence,
  };
  const workerId = worker === null ? NOBODY : worker.id;
  if (kind === 'speculative') {
    const { attemptNo, fence } = claim;
    const notes = notesWith(notesOf(state, slot), {
      speculativeAttempt: { attemptNo, fence, workerId, claimedAt: state.now },
    });
    recorder.record({ kind: 'SpeculativeClaimed', ...claim, workerId, notes, at: state.now });
  } else {
    const claimed: AttemptClaimed = {
      kind: 'AttemptClaimed',
      runId,
      taskNo: claim.taskNo,
      attemptNo: claim.attemptNo,
      fence: claim.fence,
      workerId,
      firstOfTask: !hasRow(state, slot),
      firstOfRun: !runs.has(run, CLAIMED),
      at: state.now,
    };
    // Few tasks have notes, and a spread would cost all of them.
    const noted = notesOfClaim(state, slot);
    recorder.record(noted.notes === undefined ? claimed : { ...claimed, ...noted });
    if (worker !== null) passGate(state, slot);
    beginProbe(state, slot);
  }
  if (worker === null) return;
  if (state.rates.isUsed || state.limits.countsStarts) useRates(recorder, slot);
  sendAssignment(recorder, slot, worker, claim, booking, decision);
  watchLease(state, worker);
}
