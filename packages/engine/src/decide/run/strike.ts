import { setAsideUnloaded } from '../../apply/restore.ts';
import { type Answer, DONE, refuse } from '../../model/answer.ts';
import type { StrikeRun } from '../../model/command.ts';
import { ENDED } from '../../tables/run/run-table.ts';
import type { Recorder } from '../recorder.ts';

/** Strikes before a run is set aside. */
const MAX_STRIKES = 2;

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
  if (run < 0 && isLast && stored !== undefined) setAsideUnloaded(state, stored);
  return DONE;
}
