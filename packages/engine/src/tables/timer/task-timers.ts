/**
 * The times that a task may take, beside the timeout of an attempt. Each counts from an instant that is stored, so that a new
 * owner goes on with what is left and never begins anew (I41); what is left is counted by the clock that never jumps.
 *
 *   queue   ready without a claim         from `queuedAt` of its notes, or from when its backoff was over
 *   soft    one attempt, before it is slow   from its claim
 *   stuck   one attempt without progress     from its claim, or from its last progress, which its worker tells again and again
 *   total   all attempts and backoffs     from `firstAt` of its notes: the first claim since its budgets began
 *
 * Queue and total never count from before the run became active, or active again: whoever is opened again has its whole time.
 */

import type { AttemptSlot, Instant, TaskSlot } from '../../model/ids.ts';
import { NO_NOTES, noting } from '../../model/task/notes.ts';
import { WAITING } from '../../model/task/task-states.ts';
import { claimOf } from '../attempt/claim-of.ts';
import { notesOfAttempt, uncountedAfterClaim } from '../speculative/notes.ts';
import type { State } from '../state.ts';
import { hasOwnState, notesOf } from '../task/task-notes.ts';
import { taskNoOf, taskSpecOf } from '../task/task-slots.ts';
import { setTaskTimer } from './set-task-timer.ts';
import { waitLeftMs } from './stored-wait.ts';

/** An attempt begins: its own times are watched. */
export function watchAttempt(state: State, attempt: AttemptSlot): void {
  watchFor(state, attempt, 0, true);
}

/** A load: what is left of each, and never more than it can have been, for the wall clock may have gone back. */
export function watchLoaded(state: State, attempt: AttemptSlot): void {
  const ranMs = state.mono - state.attempts.claimedMono[attempt]!;
  watchFor(state, attempt, ranMs, notesOfAttempt(state, attempt).slowAt === undefined);
}

function watchFor(state: State, attempt: AttemptSlot, ranMs: number, mayBeSlow: boolean): void {
  const { softTimeoutMs, stuckMs } = taskSpecOf(state, state.attempts.task[attempt]!);
  if (softTimeoutMs !== undefined && mayBeSlow)
    setTaskTimer(state, 'soft', softTimeoutMs - ranMs, claimOf(state, attempt));
  // After a load the worker will tell whether it makes progress; until then nothing is held against it.
  const isCall = state.tasks.state[state.attempts.task[attempt]!] === WAITING;
  if (stuckMs !== undefined && !isCall) setTaskTimer(state, 'stuck', stuckMs - ranMs, claimOf(state, attempt));
}

/** The whole task's time, once it has begun. */
export function watchTotal(state: State, slot: TaskSlot): void {
  const { totalTimeoutMs } = taskSpecOf(state, slot);
  const since = totalSince(state, slot);
  if (totalTimeoutMs === undefined || since === undefined) return;
  state.tasks.totalDueAt.set(slot, push(state, slot, 'total', leftMs(state, since, totalTimeoutMs), since));
}

/** Since when the time of the whole task counts; undefined before its first claim. */
export function totalSince(state: State, slot: TaskSlot): Instant | undefined {
  const { firstAt } = notesOf(state, slot);
  return firstAt === undefined ? undefined : notBeforeRun(state, slot, firstAt);
}

function notBeforeRun({ runs, tasks }: State, slot: TaskSlot, at: Instant): Instant {
  const since = runs.timings.get(tasks.run[slot]!)?.since;
  return since !== undefined && since > at ? since : at;
}

/** The task has come into its lane. One whose queue time has no beginning yet gets one at the end of the step. */
export function watchQueue(state: State, slot: TaskSlot): void {
  const { queueTimeoutMs } = taskSpecOf(state, slot);
  if (queueTimeoutMs === undefined) return;
  const since = queuedSince(state, slot);
  if (since === undefined) state.agenda.queued.add(slot);
  else {
    const dueAt = push(state, slot, 'queue', leftMs(state, since, queueTimeoutMs), state.tasks.fence[slot]!);
    state.tasks.queueDueAt.set(slot, dueAt);
  }
}

/** Since when it is ready, as far as that is stored. */
export function queuedSince(state: State, slot: TaskSlot): Instant | undefined {
  const { queuedAt } = notesOf(state, slot);
  if (queuedAt !== undefined) return notBeforeRun(state, slot, queuedAt);
  const retryAt = state.tasks.retryAt[slot]! as Instant;
  return hasOwnState(state, slot) && retryAt > 0 ? notBeforeRun(state, slot, retryAt) : undefined;
}

/** What a claim leaves behind: since when the task and this attempt of it are on their way. */
export function notesOfClaim(state: State, slot: TaskSlot): { readonly notes?: string } {
  const { tasks, runs, now } = state;
  if (!runs.versionOf(tasks.run[slot]!).keepsNotes && !tasks.notes.has(slot)) return NO_NOTES;
  const { totalTimeoutMs, queueTimeoutMs } = taskSpecOf(state, slot);
  const before = notesOf(state, slot);
  return noting(before, {
    firstAt: totalTimeoutMs === undefined ? undefined : (before.firstAt ?? now),
    queuedAt: queueTimeoutMs === undefined ? undefined : (queuedSince(state, slot) ?? now),
    deadlineAt: undefined,
    slowAt: undefined,
    speculativeAttempt: undefined,
    speculative: undefined,
    ...uncountedAfterClaim(state, slot),
  });
}

export function leftMs(state: State, since: number, spanMs: number): number {
  return waitLeftMs(state, { from: since, until: since + spanMs });
}

function push(state: State, slot: TaskSlot, kind: 'queue' | 'total', delayMs: number, stamp: number): number {
  const at = state.mono + Math.max(0, delayMs);
  state.timers.push({ at, kind, subject: state.runIdOfTask(slot), taskNo: taskNoOf(state, slot), stamp });
  return at;
}
