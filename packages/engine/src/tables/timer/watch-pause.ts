/** A pause with an end: the run continues by itself. */
import type { RunRow } from '../../model/ids.ts';
import type { State } from '../state.ts';
import { waitLeftMs } from './stored-wait.ts';

/** The run's own pause, as it was just set or loaded. */
export function watchPause(state: State, run: RunRow): void {
  const { at = 0, until = null } = state.runs.pauses.get(run)?.run ?? {};
  if (until === null) return;
  const leftMs = waitLeftMs(state, { from: at, until });
  state.timers.push({ at: state.mono + leftMs, kind: 'resume', subject: state.runs.id[run]!, taskNo: 0, stamp: until });
}

/** The pause is the one that the timer was set for. */
export function isWatched(state: State, run: RunRow, until: number): boolean {
  return state.runs.pauses.get(run)?.run?.until === until;
}
