import { type Answer, DONE, refuse, type StrikeRun } from '../command.ts';
import type { Recorder } from '../recorder.ts';

/** Strikes before a run is set aside. */
export const MAX_STRIKES = 2;

export function strikeRun(recorder: Recorder, { runId, reason, setAside }: StrikeRun): Answer {
  const { state } = recorder;
  const run = state.runs.find(runId);
  // One that can't be loaded is known by its row only.
  const stored = recorder.endedRuns.get(runId);
  if (run < 0 && stored === undefined) return refuse('RUN_NOT_FOUND');
  const strikes = (run >= 0 ? state.runs.strikes[run]! : (stored?.strikes ?? 0)) + 1;
  const isLast = setAside || strikes >= MAX_STRIKES;
  recorder.record({ kind: 'RunStruck', runId, strikes, setAside: isLast, reason, at: state.now });
  return DONE;
}
