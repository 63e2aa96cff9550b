/** A pause with an end: the run continues by itself. */
import type { RunRow } from '../../model/ids.ts';
import type { State } from '../state.ts';

/** The longest wait that a dag may ask for before its runs are tried again. */
const MAX_RETRY_RUN_DELAY_MS = 24 * 3_600_000;

export function watchPause(state: State, run: RunRow, taskNo: number | null, until: number | null): void {
  if (until === null || taskNo !== null) return;
  // What is left of it, and never more than it can have been: the clock may have gone back (I41).
  const leftMs = Math.min(Math.max(until - state.now, 0), MAX_RETRY_RUN_DELAY_MS);
  state.timers.push({ at: state.mono + leftMs, kind: 'resume', subject: state.runs.id[run]!, taskNo: 0, stamp: until });
}

/** The pause is the one that the timer was set for. */
export function isWatched(state: State, run: RunRow, until: number): boolean {
  return state.runs.pauses.get(run)?.run?.until === until;
}
