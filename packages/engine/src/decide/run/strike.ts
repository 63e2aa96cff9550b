import { setAsideUnloaded } from '../../apply/restore.ts';
import { type Answer, DONE, refuse } from '../../model/answer.ts';
import type { StrikeRun } from '../../model/command.ts';
import { readRunNotes } from '../../model/run/run-notes.ts';
import { ENDED } from '../../tables/run/run-table.ts';
import type { Recorder } from '../recorder.ts';
import { recordKey } from './run-key.ts';

/** Strikes before a run is set aside. */
const MAX_STRIKES = 2;

export function strikeRun(recorder: Recorder, { runId, reason, setAside }: StrikeRun): Answer {
  const { state } = recorder;
  const run = state.runs.find(runId);
  // One that can't be loaded is known by its row only.
  const stored = recorder.endedRuns.get(runId);
  if (run < 0 && stored === undefined) return refuse('RUN_NOT_FOUND');
  if (run >= 0 ? state.runs.phase[run] === ENDED : stored?.phase === 'ended') return refuse('RUN_ENDED');
  // A row that was read before the last commit does not show it yet.
  if (stored?.setAside || state.aside.has(runId)) return DONE;
  const strikes = (run >= 0 ? state.runs.strikes[run]! : (stored?.strikes ?? 0)) + 1;
  const isLast = setAside || strikes >= MAX_STRIKES;
  recorder.record({ kind: 'RunStruck', runId, strikes, setAside: isLast, reason, at: state.now });
  if (!isLast) return DONE;
  if (run >= 0) recordKey(recorder, run, { isLive: false, isActive: false });
  else if (stored !== undefined) {
    setAsideUnloaded(state, stored);
    const { key } = readRunNotes(stored.notes);
    const gone = { isLive: false, isActive: false };
    if (key !== undefined)
      recorder.record({ kind: 'RunKeySet', runId, uid: stored.uid, dagId: stored.dagId, key, ...gone });
  }
  return DONE;
}
