/** One of a task's times is over. */

import type { AttemptNo } from '../../model/ids.ts';
import { fingerprintOf } from '../../model/task/fingerprint.ts';
import { notesWith, type TaskNotes } from '../../model/task/notes.ts';
import { HOLDS_CLAIM, IS_DUE, IS_TERMINAL, READY, RUNNING } from '../../model/task/task-states.ts';
import { ownerOf, withAttempt } from '../../tables/speculative/seconds.ts';
import type { State } from '../../tables/state.ts';
import { claimOf } from '../../tables/task/claim-of.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import { notesOf } from '../../tables/task/task-notes.ts';
import { specNoOf, taskNoOf, taskSpecOf } from '../../tables/task/task-slots.ts';
import { isDelayed } from '../../tables/timer/run-timers.ts';
import { pushStuck, totalSince } from '../../tables/timer/task-timers.ts';
import type { Timer } from '../../tables/timer/timer-heap.ts';
import { LOADED } from '../../tables/worker/confirmed.ts';
import { writeDeadLetter } from '../dead-letter/dead-letter.ts';
import { endOverdue } from '../lease/doubt.ts';
import { killAttempt } from '../lease/kill.ts';
import type { Recorder } from '../recorder.ts';
import { endAttempt } from '../task/end-attempt.ts';

/** A worker that was not heard since the load will be, or will lose the attempt by its lease. */
const ASK_AGAIN_MS = 500;

export function isTaskTimer({ kind }: Timer): boolean {
  return kind === 'queue' || kind === 'soft' || kind === 'stuck' || kind === 'total';
}

/** The timer speaks of the present. */
export function isCurrent(state: State, slot: number, timer: Timer): boolean {
  const { tasks } = state;
  const code = tasks.state[slot]!;
  if (timer.kind === 'queue') return code === READY && tasks.watches.get(slot)?.queueDueAt === timer.at;
  if (timer.kind === 'total') return IS_TERMINAL[code] === 0 && totalSince(state, slot) === timer.stamp;
  return HOLDS_CLAIM[code] === 1 && tasks.fence[slot] === timer.stamp;
}

export function fireTaskTimer(recorder: Recorder, slot: number, timer: Timer): void {
  const { state } = recorder;
  // A run that is closing ends what may not go on by itself.
  if (!isCurrent(state, slot, timer) || !mayRun(state, slot)) return;
  // Set anew when the run goes on.
  if ((timer.kind === 'queue' || timer.kind === 'total') && isDelayed(state, state.tasks.run[slot]!)) return;
  if (timer.kind === 'queue') expire(recorder, slot, 'queue');
  else if (timer.kind === 'total') fireTotalTimer(recorder, slot);
  else if (timer.kind === 'soft') noteSlow(recorder, slot);
  else fireStuckTimer(recorder, slot);
}

/** It fails without an attempt to end. */
function expire(recorder: Recorder, slot: number, reason: 'queue' | 'total'): void {
  const { state } = recorder;
  recorder.record({
    kind: 'TaskExpired',
    runId: state.runIdOfTask(slot),
    taskNo: taskNoOf(state, slot),
    attemptNo: state.tasks.attemptNo[slot] as AttemptNo,
    reason,
    notes: notesWith(notesOf(state, slot), { expired: { by: reason, at: state.now } }),
    at: state.now,
  });
  const failure = { outcome: 'timeout', code: `timeout:${reason}`, error: EXPIRED[reason] } as const;
  writeDeadLetter(recorder, slot, { ...failure, reason: 'timeout', fingerprint: fingerprintOf(failure) });
}

const EXPIRED = {
  queue: 'The task waited in its queue for longer than it may.',
  total: 'The task took longer than its total timeout, over all its attempts.',
} as const;

function fireTotalTimer(recorder: Recorder, slot: number): void {
  const code = recorder.state.tasks.state[slot]!;
  if (IS_DUE[code] === 1) return expire(recorder, slot, 'total');
  if (HOLDS_CLAIM[code] === 0) return;
  if (code === RUNNING) killAttempt(recorder, slot, 'timeout');
  const error = 'The task took longer than its total timeout, over all its attempts.';
  endAttempt(recorder, slot, { outcome: 'timeout', code: 'timeout:total', error, isLast: true });
}

/** Told once for each attempt, and nothing else happens. */
function noteSlow(recorder: Recorder, slot: number): void {
  const { state } = recorder;
  const notes = notesOf(state, slot);
  if (notes.slowAt !== undefined) return;
  const { attemptNo, fence } = claimOf(state, slot);
  recorder.record({
    kind: 'TaskSlow',
    runId: state.runIdOfTask(slot),
    taskNo: taskNoOf(state, slot),
    attemptNo,
    fence,
    notes: notesWith(
      withAttempt(state, slot, ownerOf(state, slot), { slowAt: state.now }),
      slowAttempts(state, ownerOf(state, slot), attemptNo),
    ),
    at: state.now,
  });
}

/** Counted only where a hook asks for it. */
function slowAttempts(state: State, slot: number, attemptNo: number): Pick<TaskNotes, 'slowAttempts'> {
  const { closing } = state.runs.versionOf(state.tasks.run[slot]!).graph;
  if ((closing?.repeatingOf(specNoOf(state, slot)).length ?? 0) === 0) return {};
  return { slowAttempts: [...(notesOf(state, slot).slowAttempts ?? []), attemptNo] };
}

function fireStuckTimer(recorder: Recorder, slot: number): void {
  const { state } = recorder;
  const { tasks } = state;
  if (tasks.state[slot] !== RUNNING) return;
  if (tasks.confirmed[slot] === LOADED) return pushStuck(state, slot, ASK_AGAIN_MS);
  const dueAt = progressAt(state, slot) + taskSpecOf(state, slot).stuckMs!;
  if (dueAt > state.mono) return pushStuck(state, slot, dueAt - state.mono);
  const error = 'The attempt reported no progress for too long.';
  endOverdue(recorder, slot, { outcome: 'stuck', code: 'stuck:progress', error });
}

/** An attempt that never tells of progress counts from its start. */
export function progressAt({ tasks }: State, slot: number): number {
  return Math.max(tasks.watches.get(slot)?.progressAt ?? 0, tasks.claimedMono[slot]!);
}
