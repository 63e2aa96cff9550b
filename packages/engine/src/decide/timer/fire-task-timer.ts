/** Handles a deadline of a task. */

import type { AttemptNo, TaskSlot } from '../../model/ids.ts';
import { fingerprintOf } from '../../model/task/fingerprint.ts';
import { notesWith } from '../../model/task/notes.ts';
import { IS_DUE, IS_TERMINAL, READY, WAITING } from '../../model/task/task-states.ts';
import { NO_ATTEMPT } from '../../tables/attempt/attempt-table.ts';
import { leadingOf } from '../../tables/attempt/find-attempt.ts';
import type { State } from '../../tables/state.ts';
import { isMember } from '../../tables/task/gang.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import { notesOf } from '../../tables/task/task-notes.ts';
import { taskNoOf } from '../../tables/task/task-slots.ts';
import { isDelayed } from '../../tables/timer/run-timers.ts';
import { totalSince } from '../../tables/timer/task-timers.ts';
import type { Timer } from '../../tables/timer/timer-heap.ts';
import { writeDeadLetter } from '../dead-letter/dead-letter.ts';
import { endTry } from '../gang/end-try.ts';
import { killAttempt } from '../lease/kill.ts';
import type { Recorder } from '../recorder.ts';
import { endAttempt } from '../task/end-attempt.ts';

/** Whether it is about a task as a whole. */
export function isTaskTimer({ kind }: Timer): boolean {
  return kind === 'queue' || kind === 'total';
}

/** The timer speaks of the present. */
export function isCurrent(state: State, slot: TaskSlot, timer: Timer): boolean {
  const { tasks } = state;
  const code = tasks.state[slot]!;
  if (timer.kind === 'queue') return code === READY && tasks.queueDueAt.get(slot) === timer.at;
  return IS_TERMINAL[code] === 0 && totalSince(state, slot) === timer.stamp;
}

export function fireTaskTimer(recorder: Recorder, slot: TaskSlot, timer: Timer): void {
  const { state } = recorder;
  // A run that is closing ends what may not go on by itself.
  if (!isCurrent(state, slot, timer) || !mayRun(state, slot)) return;
  // Set anew when the run goes on.
  if (isDelayed(state, state.tasks.run[slot]!)) return;
  if (timer.kind === 'queue') expire(recorder, slot, 'queue');
  else fireTotalTimer(recorder, slot);
}

/** It fails without an attempt to end. */
function expire(recorder: Recorder, slot: TaskSlot, reason: 'queue' | 'total'): void {
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
  if (isMember(state, slot)) endTry(recorder, slot, null);
}

const EXPIRED = {
  queue: 'The task waited in its queue for longer than it may.',
  total: 'The task took longer than its total timeout, over all its attempts.',
} as const;

function fireTotalTimer(recorder: Recorder, slot: TaskSlot): void {
  const { state } = recorder;
  const code = state.tasks.state[slot]!;
  if (IS_DUE[code] === 1) return expire(recorder, slot, 'total');
  const attempt = leadingOf(state, slot);
  if (attempt === NO_ATTEMPT) return;
  if (code !== WAITING) killAttempt(recorder, attempt, 'timeout');
  const error = EXPIRED.total;
  endAttempt(recorder, attempt, { outcome: 'timeout', code: 'timeout:total', error, isLast: true });
}
