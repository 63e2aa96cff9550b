/**
 * The deadlines of a whole run: `timeoutMs` ends it as failed, `softTimeoutMs` reports it once as slow. Both count from when
 * it became active, which is stored. A reopened run starts again, after the delay of its retry policy if it has one. The
 * deadlines of its tasks never count from before that (I41). Closing does not count: closing tasks have their own timeouts.
 */

import type { Instant, RunId, RunRow } from '../../model/ids.ts';
import type { StoredRun } from '../../model/stored.ts';
import { IS_TERMINAL } from '../../model/task/task-states.ts';
import { OPEN } from '../run/run-table.ts';
import type { State } from '../state.ts';
import { forEachSlot } from '../task/task-slots.ts';
import { leftMs, watchTotal } from './task-timers.ts';
import type { Timer } from './timer-heap.ts';

/** The run has become active. */
export function watchRun(state: State, run: RunRow, since: Instant): void {
  if (hasTimes(state, run)) beginWatch(state, run, since);
}

/** The run is active again, so the deadlines of tasks with earlier attempts start again. Its tasks enter their lanes after this. */
export function watchRunAnew(state: State, run: RunRow, since: Instant): void {
  watchRun(state, run, since);
  if (!state.runs.versionOf(run).keepsNotes || state.tasks.notes.size === 0) return;
  forEachSlot(state, run, (slot) => {
    if (IS_TERMINAL[state.tasks.state[slot]!] === 0) watchTotal(state, slot);
  });
}

/** Its retry policy has it wait: no time of it counts before it goes on. */
export function isDelayed({ runs }: State, run: RunRow): boolean {
  return (runs.pauses.get(run)?.run?.until ?? null) !== null;
}

function hasTimes({ runs }: State, run: RunRow): boolean {
  const { spec, keepsNotes } = runs.versionOf(run);
  return keepsNotes || spec.timeoutMs !== undefined || spec.softTimeoutMs !== undefined;
}

export function watchLoadedRun(state: State, run: RunRow, stored: StoredRun): void {
  if (stored.admittedAt !== undefined && hasTimes(state, run)) beginWatch(state, run, stored.admittedAt);
}

function beginWatch(state: State, run: RunRow, since: Instant): void {
  const { runs, mono, now } = state;
  const { timeoutMs, softTimeoutMs } = runs.versionOf(run).spec;
  const sinceMono = mono - Math.max(0, now - since);
  runs.timings.set(run, { since, sinceMono });
  const push = (kind: Timer['kind'], spanMs: number) =>
    state.timers.push({
      at: mono + leftMs(state, since, spanMs),
      kind,
      subject: runs.id[run]!,
      taskNo: -1,
      stamp: since,
    });
  if (timeoutMs !== undefined) push('run', timeoutMs);
  if (softTimeoutMs !== undefined && runs.notes.get(run)?.slowAt === undefined) push('run_slow', softTimeoutMs);
}

export function isRunTimer({ kind }: Timer): boolean {
  return kind === 'run' || kind === 'run_slow';
}

export function isCurrentRunTimer({ runs }: State, timer: Timer): boolean {
  const run = runs.find(timer.subject as RunId);
  return run >= 0 && runs.phase[run] === OPEN && runs.timings.get(run)?.since === timer.stamp;
}

/** When its time is over, on the clock that never jumps; null when it has none. */
export function runDueAt({ runs }: State, run: RunRow): number | null {
  const { timeoutMs } = runs.versionOf(run).spec;
  const timing = runs.timings.get(run);
  return timeoutMs === undefined || timing === undefined ? null : timing.sinceMono + timeoutMs;
}
