/** Handles a deadline of a running attempt. */

import type { AttemptSlot, TaskSlot } from '../../model/ids.ts';
import { notesWith, type TaskNotes } from '../../model/task/notes.ts';
import { WAITING } from '../../model/task/task-states.ts';
import { NO_WORKER } from '../../tables/attempt/attempt-table.ts';
import { claimOf } from '../../tables/attempt/claim-of.ts';
import { LOADED } from '../../tables/attempt/confirmed.ts';
import { progressAt } from '../../tables/attempt/watch.ts';
import { notesOfAttempt, withAttempt } from '../../tables/speculative/notes.ts';
import type { State } from '../../tables/state.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import { notesOf } from '../../tables/task/task-notes.ts';
import { specNoOf, taskSpecOf } from '../../tables/task/task-slots.ts';
import { setTaskTimer } from '../../tables/timer/set-task-timer.ts';
import type { Timer } from '../../tables/timer/timer-heap.ts';
import { askAgain } from '../child/stop-call.ts';
import { endOverdue } from '../lease/doubt.ts';
import type { Recorder } from '../recorder.ts';
import { firePaceTimer } from '../speculative/watch.ts';
import { endAttempt } from '../task/end-attempt.ts';
import { deadlineOf } from '../task/extend.ts';

/** A worker that was not heard since the load will be, or will lose the attempt by its lease. */
const ASK_AGAIN_MS = 500;

export function fireAttemptTimer(recorder: Recorder, attempt: AttemptSlot, kind: Timer['kind']): void {
  switch (kind) {
    case 'pace':
      return firePaceTimer(recorder.state, attempt);
    case 'soft':
      return fireSoftTimer(recorder, attempt);
    case 'stuck':
      return fireStuckTimer(recorder, attempt);
    case 'call':
      return fireCallTimer(recorder, attempt);
    case 'timeout':
      return fireTimeout(recorder, attempt);
    default: {
      const error = 'The worker did not stop the cancelled attempt within its grace period.';
      endAttempt(recorder, attempt, { outcome: 'lost', code: 'lost:grace', error });
    }
  }
}

function fireCallTimer(recorder: Recorder, attempt: AttemptSlot): void {
  const { state } = recorder;
  if (state.tasks.state[state.attempts.task[attempt]!] !== WAITING) return;
  askAgain(recorder, attempt);
  setTaskTimer(state, 'call', state.settings.askChildMs, claimOf(state, attempt));
}

function fireTimeout(recorder: Recorder, attempt: AttemptSlot): void {
  const { state } = recorder;
  const leftMs = deadlineOf(state, attempt) - state.mono;
  // It has got more time since.
  if (leftMs > 0) return setTaskTimer(state, 'timeout', leftMs, claimOf(state, attempt));
  const error = 'The attempt ran longer than its timeout.';
  endOverdue(recorder, attempt, { outcome: 'timeout', code: 'timeout:attempt', error });
}

/** Told once for each attempt, and nothing else happens. */
function fireSoftTimer(recorder: Recorder, attempt: AttemptSlot): void {
  const { state } = recorder;
  const slot = state.attempts.task[attempt]!;
  if (!mayRun(state, slot) || notesOfAttempt(state, attempt).slowAt !== undefined) return;
  const claim = claimOf(state, attempt);
  const noted = withAttempt(state, attempt, { slowAt: state.now });
  const notes = notesWith(noted, slowAttempts(state, slot, claim.attemptNo));
  recorder.record({ kind: 'TaskSlow', ...claim, notes, at: state.now });
}

/** Counted only where a hook asks for it. */
function slowAttempts(state: State, slot: TaskSlot, attemptNo: number): Pick<TaskNotes, 'slowAttempts'> {
  const { closing } = state.runs.versionOf(state.tasks.run[slot]!).graph;
  if ((closing?.repeatingOf(specNoOf(state, slot)).length ?? 0) === 0) return {};
  return { slowAttempts: [...(notesOf(state, slot).slowAttempts ?? []), attemptNo] };
}

function fireStuckTimer(recorder: Recorder, attempt: AttemptSlot): void {
  const { state } = recorder;
  const { attempts } = state;
  const slot = attempts.task[attempt]!;
  // A run that is closing ends what may not go on by itself; a call makes no progress of its own.
  if (!mayRun(state, slot) || attempts.worker[attempt] === NO_WORKER) return;
  const dueAt = progressAt(state, attempt) + taskSpecOf(state, slot).stuckMs!;
  const leftMs = attempts.confirmed[attempt] === LOADED ? ASK_AGAIN_MS : dueAt - state.mono;
  if (leftMs > 0) return setTaskTimer(state, 'stuck', leftMs, claimOf(state, attempt));
  const error = 'The attempt reported no progress for too long.';
  endOverdue(recorder, attempt, { outcome: 'stuck', code: 'stuck:progress', error });
}
