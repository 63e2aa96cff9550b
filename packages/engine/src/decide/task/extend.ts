/** More time for a running attempt, while it makes progress. */
import { type Answer, refuse } from '../../model/answer.ts';
import type { ExtendAttempt } from '../../model/command.ts';
import type { Instant } from '../../model/ids.ts';
import { notesWith } from '../../model/task/notes.ts';
import { ownerOf, withAttempt } from '../../tables/speculative/seconds.ts';
import type { State } from '../../tables/state.ts';
import { findTask, isHeld } from '../../tables/task/find-task.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import { notesOf } from '../../tables/task/task-notes.ts';
import { taskSpecOf } from '../../tables/task/task-slots.ts';
import { runDueAt } from '../../tables/timer/run-timers.ts';
import { LOADED } from '../../tables/worker/confirmed.ts';
import type { Recorder } from '../recorder.ts';
import { progressAt } from '../timer/fire-task-timer.ts';

/** Beyond its timeout an attempt gets this much more, in all. */
const MAX_EXTENSION_MS = 86_400_000;
/** What counts as progress now, where the task does not say itself when it is stuck. */
const PROGRESS_WINDOW_MS = 300_000;

/**
 * At least `byMs` from now, not on top of what is left: a wish that is sent twice is one wish (I22). Never beyond the end of the
 * whole task's time, or of the run's.
 */
export function extendAttempt(recorder: Recorder, { claim, byMs }: ExtendAttempt): Answer {
  const { state } = recorder;
  const slot = findTask(state, claim);
  if (slot === null || !isHeld(state, slot, claim) || state.tasks.attemptNo[slot] !== claim.attemptNo) {
    return refuse('STALE_TOKEN', `${claim.runId}/${claim.taskNo}`);
  }
  if (!mayRun(state, slot)) return refuse('EXTEND_REFUSED', 'its run is closing');
  if (taskSpecOf(state, slot).timeoutMs === null) return { ok: true, kind: 'extended', leftMs: null };
  if (!makesProgress(state, slot)) return refuse('EXTEND_REFUSED', 'it has reported no progress lately');
  const dueAt = Math.max(deadlineOf(state, slot), Math.min(state.mono + byMs, latestEnd(state, slot)));
  const leftMs = dueAt - state.mono;
  if (dueAt > deadlineOf(state, slot)) {
    const deadlineAt = (state.now + leftMs) as Instant;
    const notes = notesWith(withAttempt(state, slot, ownerOf(state, slot), { deadlineAt }), {});
    recorder.record({ kind: 'AttemptExtended', ...claim, deadlineAt, notes, at: state.now });
  }
  return { ok: true, kind: 'extended', leftMs };
}

/** When the running attempt's time is over; it has one. */
export function deadlineOf(state: State, slot: number): number {
  const { tasks } = state;
  const ownAt = tasks.claimedMono[slot]! + (taskSpecOf(state, slot).timeoutMs ?? 0);
  return Math.max(ownAt, tasks.watches.get(slot)?.deadlineAt ?? 0);
}

function makesProgress(state: State, slot: number): boolean {
  // Its worker has not been heard since the load: what it would tell is not known.
  if (state.tasks.confirmed[slot] === LOADED) return true;
  const windowMs = taskSpecOf(state, slot).stuckMs ?? PROGRESS_WINDOW_MS;
  return state.mono - progressAt(state, slot) <= windowMs;
}

function latestEnd(state: State, slot: number): number {
  const { tasks } = state;
  const { timeoutMs, totalTimeoutMs } = taskSpecOf(state, slot);
  const ownAt = tasks.claimedMono[slot]! + (timeoutMs ?? 0) + MAX_EXTENSION_MS;
  const { firstAt } = notesOf(state, ownerOf(state, slot));
  const totalMs = totalTimeoutMs === undefined || firstAt === undefined ? null : firstAt + totalTimeoutMs - state.now;
  const totalAt = totalMs === null ? ownAt : state.mono + Math.min(totalMs, totalTimeoutMs!);
  return Math.min(ownAt, totalAt, runDueAt(state, tasks.run[slot]!) ?? ownAt);
}
