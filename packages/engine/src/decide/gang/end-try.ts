/**
 * Members of a gang run together or not at all. When one of them ends without success, or its claim goes back, the try is over in the
 * same commit: the attempts of the others end as `lost` and cost no retry, and those that had already succeeded are cleared. All of
 * them wait for the next try, which begins when each of them is ready again. Where there is no other try, they are cancelled.
 */
import type { AttemptEnded } from '../../model/change.ts';
import type { Actor, AttemptNo, Fence, Instant, TaskSlot } from '../../model/ids.ts';
import { noting } from '../../model/task/notes.ts';
import { GANG } from '../../model/task/outcome.ts';
import { AWAITS_ATTEMPT, RUNNING, SUCCEEDED } from '../../model/task/task-states.ts';
import { claimOf, workerIdOf } from '../../tables/attempt/claim-of.ts';
import { leadingOf } from '../../tables/attempt/find-attempt.ts';
import { CLAIMED } from '../../tables/run/run-table.ts';
import { lastFence } from '../../tables/speculative/notes.ts';
import { membersOf } from '../../tables/task/gang.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import { hasRow, notesOf } from '../../tables/task/task-notes.ts';
import { taskNoOf } from '../../tables/task/task-slots.ts';
import { passRetry } from '../breaker/pass.ts';
import { killAttempt } from '../lease/kill.ts';
import { clearTask } from '../manual/clear-task.ts';
import type { Recorder } from '../recorder.ts';

/** Who stops, clears and cancels members, for people. */
const BY = 'gang' as Actor;

export function endTry(recorder: Recorder, slot: TaskSlot, retryAt: Instant | null): void {
  const { state } = recorder;
  const { tasks } = state;
  // A run that is closing stops all of its attempts itself.
  if (!mayRun(state, slot)) return;
  const members = membersOf(state, slot) ?? [];
  const rank = members.indexOf(slot);
  const others = members.filter((member) => member !== slot);
  const reason = `Member ${rank} of its gang ended the try.`;
  for (const other of others) if (tasks.state[other] === RUNNING) stopMember(recorder, other, retryAt, reason);
  if (retryAt === null) {
    for (const other of others) if (AWAITS_ATTEMPT[tasks.state[other]!] === 1) cancelMember(recorder, other, reason);
    return;
  }
  const done = others.filter((other) => tasks.state[other] === SUCCEEDED);
  done.forEach((other, i) => clearMember(recorder, other, i < done.length - 1));
}

/** Its token is void from this commit on, and its worker is told to stop. */
function stopMember(recorder: Recorder, slot: TaskSlot, retryAt: Instant | null, reason: string): void {
  const { state } = recorder;
  const attempt = leadingOf(state, slot);
  killAttempt(recorder, attempt, 'cancelled');
  const notes = notesOf(state, slot);
  const isLast = retryAt === null;
  const end: AttemptEnded = {
    kind: 'AttemptEnded',
    ...claimOf(state, attempt),
    workerId: workerIdOf(state, attempt),
    outcome: isLast ? 'cancelled' : 'lost',
    // Where there is no other try, what it is from here on follows at once, by a change of its own.
    taskState: isLast ? 'cancelled' : 'retrying',
    claimedAt: state.attempts.claimedAt[attempt] as Instant,
    startedAt: null,
    endedAt: state.now,
    retryAt,
    lostCount: state.tasks.lostCount[slot]!,
    output: null,
    facts: null,
    error: reason,
    code: GANG,
    fingerprint: null,
    quick: null,
    ...noting(notes, { queuedAt: undefined, uncounted: (notes.uncounted ?? 0) + 1 }),
  };
  recorder.record(end);
  if (isLast) cancelMember(recorder, slot, reason);
  else if (retryAt <= state.now) passRetry(recorder, slot);
}

function cancelMember(recorder: Recorder, slot: TaskSlot, reason: string): void {
  const { state } = recorder;
  const { tasks, runs } = state;
  const run = tasks.run[slot]!;
  recorder.record({
    kind: 'TaskMarked',
    runId: runs.id[run]!,
    taskNo: taskNoOf(state, slot),
    attemptNo: tasks.attemptNo[slot] as AttemptNo,
    fence: (lastFence(state, slot) + 1) as Fence,
    firstOfTask: !hasRow(state, slot),
    firstOfRun: !runs.has(run, CLAIMED),
    state: 'cancelled',
    output: null,
    facts: null,
    reason,
    actor: BY,
    at: state.now,
  });
}

/** It succeeded in a try that failed: it runs again with the others, and that attempt counts against no budget (I39). */
function clearMember(recorder: Recorder, slot: TaskSlot, more: boolean): void {
  clearTask(recorder, slot, { actor: BY, fresh: false, more, isUncounted: true });
}
