import { type Answer, DONE, refuse, type StrikeRun } from '../command.ts';
import type { Recorder } from '../recorder.ts';
import type { State } from '../state.ts';
import type { StoredRun } from '../stored.ts';
import { ENDED } from './run-table.ts';

/** Strikes before a run is set aside. */
export const MAX_STRIKES = 2;

export function strikeRun(recorder: Recorder, { runId, reason, setAside }: StrikeRun): Answer {
  const { state } = recorder;
  const run = state.runs.find(runId);
  // One that can't be loaded is known by its row only.
  const stored = recorder.endedRuns.get(runId);
  if (run < 0 && stored === undefined) return refuse('RUN_NOT_FOUND');
  if (run >= 0 ? state.runs.phase[run] === ENDED : stored?.phase === 'ended') return refuse('RUN_ENDED');
  if (stored?.setAside) return DONE;
  const strikes = (run >= 0 ? state.runs.strikes[run]! : (stored?.strikes ?? 0)) + 1;
  const isLast = setAside || strikes >= MAX_STRIKES;
  recorder.record({ kind: 'RunStruck', runId, strikes, setAside: isLast, reason, at: state.now });
  if (run < 0 && isLast && stored !== undefined) giveUpPlace(state, stored);
  return DONE;
}

/** A run that is set aside and not in memory was counted as active all the same, by the load (I7). */
export function giveUpPlace(state: State, { runId, dagId, admitted }: StoredRun): void {
  if (!admitted || state.aside.has(runId)) return;
  state.aside.add(runId);
  const dag = state.dags.get(dagId);
  if (dag !== undefined) {
    dag.activeRuns -= 1;
    state.agenda.dags.add(dag);
  } else if (state.admittedOf.has(dagId)) state.admittedOf.set(dagId, state.admittedOf.get(dagId)! - 1);
}
