/** Who has the key of a dag that limits its runs by key; see `key-policy.ts` for what that means. */
import type { RunRow } from '../../model/ids.ts';
import { readRunNotes } from '../../model/run/run-notes.ts';
import type { RunKey } from '../../tables/run/run-keys.ts';
import type { State } from '../../tables/state.ts';
import type { Recorder } from '../recorder.ts';

/** The key of this run has room for it. */
export function hasRoomForKey(state: State, run: RunRow): boolean {
  const { dag } = state.runs.versionOf(run);
  return keyOf(state, run)?.hasRoom(dag.current.spec.concurrency?.limit) ?? true;
}

export function keyOf({ runs, runKeys }: State, run: RunRow): RunKey | undefined {
  const { key } = readRunNotes(runs.notes.get(run));
  return key === undefined ? undefined : runKeys.find(runs.versionOf(run).dag.id, key);
}

/** Goes with each change that makes a run live or not, or active or not. Most runs have no key. */
export function recordKey(
  recorder: Recorder,
  run: RunRow,
  { isLive, isActive }: { isLive: boolean; isActive: boolean },
): void {
  const { runs } = recorder.state;
  if (runs.notes.size === 0) return;
  const { key } = runs.notes.get(run) ?? {};
  if (key === undefined) return;
  const { dag } = runs.versionOf(run);
  recorder.record({
    kind: 'RunKeySet',
    runId: runs.id[run]!,
    uid: runs.uidOf(run),
    dagId: dag.id,
    key,
    isLive,
    isActive,
  });
}

export function admitRun(recorder: Recorder, run: RunRow): void {
  const { runs, now } = recorder.state;
  recorder.record({ kind: 'RunAdmitted', runId: runs.id[run]!, at: now });
  recordKey(recorder, run, { isLive: true, isActive: true });
}
