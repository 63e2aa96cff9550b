/** More time for a running attempt, while it makes progress. */
import { type Answer, refuse } from '../../model/answer.ts';
import type { ExtendAttempt } from '../../model/command.ts';
import type { AttemptSlot, Instant } from '../../model/ids.ts';
import { notesWith } from '../../model/task/notes.ts';
import { LOADED } from '../../tables/attempt/confirmed.ts';
import { progressAt } from '../../tables/attempt/watch.ts';
import { withAttempt } from '../../tables/speculative/notes.ts';
import type { State } from '../../tables/state.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import { taskSpecOf } from '../../tables/task/task-slots.ts';
import { runDueAt } from '../../tables/timer/run-timers.ts';
import type { Recorder } from '../recorder.ts';
import { heldAttempt } from './checkpoint.ts';

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
  const attempt = heldAttempt(state, claim);
  if (attempt === null) return refuse('STALE_TOKEN', `${claim.runId}/${claim.taskNo}`);
  const slot = state.attempts.task[attempt]!;
  if (!mayRun(state, slot)) return refuse('EXTEND_REFUSED', 'its run is closing');
  if (taskSpecOf(state, slot).timeoutMs === null) return { ok: true, kind: 'extended', leftMs: null };
  if (!makesProgress(state, attempt)) return refuse('EXTEND_REFUSED', 'it has reported no progress lately');
  const dueAt = Math.max(deadlineOf(state, attempt), Math.min(state.mono + byMs, latestEnd(state, attempt)));
  const leftMs = dueAt - state.mono;
  if (dueAt > deadlineOf(state, attempt)) {
    // By the clock of the claim: the two are stored, and a load goes by what is between them.
    const { claimedAt, claimedMono } = state.attempts;
    const deadlineAt = (claimedAt[attempt]! + Math.ceil(dueAt - claimedMono[attempt]!)) as Instant;
    const notes = notesWith(withAttempt(state, attempt, { deadlineAt }), {});
    recorder.record({ kind: 'AttemptExtended', ...claim, deadlineAt, notes, at: state.now });
  }
  return { ok: true, kind: 'extended', leftMs };
}

/** When the running attempt's time is over; it has one. */
export function deadlineOf(state: State, attempt: AttemptSlot): number {
  const { attempts } = state;
  const ownAt = attempts.claimedMono[attempt]! + (taskSpecOf(state, attempts.task[attempt]!).timeoutMs ?? 0);
  return Math.max(ownAt, attempts.watches.get(attempt)?.deadlineAt ?? 0);
}

function makesProgress(state: State, attempt: AttemptSlot): boolean {
  // Its worker has not been heard since the load: what it would tell is not known.
  if (state.attempts.confirmed[attempt] === LOADED) return true;
  const windowMs = taskSpecOf(state, state.attempts.task[attempt]!).stuckMs ?? PROGRESS_WINDOW_MS;
  return state.mono - progressAt(state, attempt) <= windowMs;
}

function latestEnd(state: State, attempt: AttemptSlot): number {
  const slot = state.attempts.task[attempt]!;
  const { timeoutMs } = taskSpecOf(state, slot);
  const ownAt = state.attempts.claimedMono[attempt]! + (timeoutMs ?? 0) + MAX_EXTENSION_MS;
  // What its timers go by, whatever the clock has been set to since.
  const totalAt = state.tasks.totalDueAt.get(slot) ?? ownAt;
  return Math.min(ownAt, totalAt, runDueAt(state, state.tasks.run[slot]!) ?? ownAt);
}
