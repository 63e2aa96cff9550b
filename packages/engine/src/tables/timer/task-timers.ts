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

import type { Instant } from '../../model/ids.ts';
import { NO_NOTES, noting } from '../../model/task/notes.ts';
import { RUNNING } from '../../model/task/task-states.ts';
import { uncountedAfterClaim } from '../speculative/seconds.ts';
import type { State } from '../state.ts';
import { hasOwnState, notesOf } from '../task/task-notes.ts';
import { taskNoOf, taskSpecOf } from '../task/task-slots.ts';
import { type Watch } from '../task/task-table.ts';
import type { Timer } from './timer-heap.ts';

export function watchOf({ tasks }: State, slot: number): Watch {
  let watch = tasks.watches.get(slot);
  if (watch === undefined) {
    watch = {};
    tasks.watches.set(slot, watch);
  }
  return watch;
}

/** What overtook it on the way counts all the same: progress is never taken back. */
export function hearProgress(state: State, slot: number, at: number): void {
  const watch = watchOf(state, slot);
  watch.progressAt = Math.max(watch.progressAt ?? at, at);
}

/** An attempt begins: what its worker told of an earlier one does not count. */
export function watchClaim(state: State, slot: number, isFirst: boolean): void {
  const { softTimeoutMs, stuckMs } = taskSpecOf(state, slot);
  if (softTimeoutMs !== undefined) push(state, slot, 'soft', softTimeoutMs);
  if (stuckMs !== undefined && state.tasks.state[slot] === RUNNING) push(state, slot, 'stuck', stuckMs);
  if (isFirst) watchTotal(state, slot);
}

/** A load: what is left of each, and never more than it can have been, for the wall clock may have gone back. */
export function watchLoaded(state: State, slot: number): void {
  const { softTimeoutMs, stuckMs } = taskSpecOf(state, slot);
  const ranMs = state.mono - state.tasks.claimedMono[slot]!;
  const { slowAt } = notesOf(state, slot);
  if (softTimeoutMs !== undefined && slowAt === undefined) push(state, slot, 'soft', softTimeoutMs - ranMs);
  // Whether it makes progress its worker will say; until then nothing is held against it.
  if (stuckMs !== undefined && state.tasks.state[slot] === RUNNING) push(state, slot, 'stuck', stuckMs - ranMs);
}

/** The whole task's time, once it has begun. */
export function watchTotal(state: State, slot: number): void {
  const { totalTimeoutMs } = taskSpecOf(state, slot);
  const since = totalSince(state, slot);
  if (totalTimeoutMs === undefined || since === undefined) return;
  push(state, slot, 'total', leftMs(state, since, totalTimeoutMs), since);
}

/** Since when the time of the whole task counts; undefined before its first claim. */
export function totalSince(state: State, slot: number): Instant | undefined {
  const { firstAt } = notesOf(state, slot);
  return firstAt === undefined ? undefined : notBeforeRun(state, slot, firstAt);
}

function notBeforeRun({ runs, tasks }: State, slot: number, at: Instant): Instant {
  const since = runs.timings.get(tasks.run[slot]!)?.since;
  return since !== undefined && since > at ? since : at;
}

/** The task has come into its lane. One whose queue time has no beginning yet gets one at the end of the step. */
export function watchQueue(state: State, slot: number): void {
  const { queueTimeoutMs } = taskSpecOf(state, slot);
  if (queueTimeoutMs === undefined) return;
  const since = queuedSince(state, slot);
  if (since === undefined) state.agenda.queued.add(slot);
  else watchOf(state, slot).queueDueAt = push(state, slot, 'queue', leftMs(state, since, queueTimeoutMs));
}

/** Since when it is ready, as far as that is stored. */
export function queuedSince(state: State, slot: number): Instant | undefined {
  const { queuedAt } = notesOf(state, slot);
  if (queuedAt !== undefined) return notBeforeRun(state, slot, queuedAt);
  const retryAt = state.tasks.retryAt[slot]! as Instant;
  return hasOwnState(state, slot) && retryAt > 0 ? notBeforeRun(state, slot, retryAt) : undefined;
}

/** What a claim leaves behind: since when the task and this attempt of it are on their way. */
export function notesOfClaim(state: State, slot: number): { readonly notes?: string } {
  const { tasks, runs, now } = state;
  if (!runs.versionOf(tasks.run[slot]!).keepsNotes && !tasks.notes.has(slot)) return NO_NOTES;
  const { totalTimeoutMs, queueTimeoutMs } = taskSpecOf(state, slot);
  const before = notesOf(state, slot);
  return noting(before, {
    firstAt: totalTimeoutMs === undefined ? undefined : (before.firstAt ?? now),
    queuedAt: queueTimeoutMs === undefined ? undefined : (queuedSince(state, slot) ?? now),
    deadlineAt: undefined,
    slowAt: undefined,
    second: undefined,
    speculative: undefined,
    ...uncountedAfterClaim(state, slot),
  });
}

export function leftMs({ now }: State, since: number, spanMs: number): number {
  return Math.min(Math.max(since + spanMs - now, 0), spanMs);
}

function push(state: State, slot: number, kind: Timer['kind'], delayMs: number, stamp?: number): number {
  const at = state.mono + Math.max(0, delayMs);
  const subject = state.runIdOfTask(slot);
  state.timers.push({ at, kind, subject, taskNo: taskNoOf(state, slot), stamp: stamp ?? state.tasks.fence[slot]! });
  return at;
}

export function pushStuck(state: State, slot: number, delayMs: number): void {
  push(state, slot, 'stuck', delayMs);
}
