import { type Answer, DONE, refuse, type StrikeRun } from '../command.ts';
import type { Recorder } from '../recorder.ts';

/** Strikes before a run is set aside. */
export const MAX_STRIKES = 2;

export function strikeRun(recorder: Recorder, { runId, reason }: StrikeRun): Answer {
  const { state } = recorder;
  const run = state.runs.find(runId);
  if (run < 0) return refuse('RUN_NOT_FOUND');
  const strikes = state.runs.strikes[run]! + 1;
  recorder.record({ kind: 'RunStruck', runId, strikes, setAside: strikes >= MAX_STRIKES, reason, at: state.now });
  return DONE;
}
