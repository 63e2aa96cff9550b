/** Reopens a run that has ended (I32). */

import { restoreRun } from '../../apply/restore-run.ts';
import { assert } from '../../model/assert.ts';
import type { Actor, RunRow } from '../../model/ids.ts';
import { notesReopened, readRunNotes } from '../../model/run/run-notes.ts';
import type { StoredRun, StoredVersion } from '../../model/stored.ts';
import { Version } from '../../tables/dag/dag.ts';
import { mayHaveKey } from '../../tables/run/may-have-key.ts';
import type { Recorder } from '../recorder.ts';
import { hasRoomForKey, recordKey } from './run-key.ts';

/**
 * A run that is in the database only, into the working set: ended as it is, and forgotten again with this batch unless it
 * is opened. The host has fetched it with its dag and version.
 */
export function bringBack(recorder: Recorder, stored: StoredRun): RunRow {
  const { state } = recorder;
  const dag = state.dags.get(stored.dagId);
  assert(dag !== undefined && stored.phase === 'ended', 'a run that has ended is fetched with its dag');
  dag.touchedIn = state.batchNo;
  const found = seenVersion(recorder, stored);
  const version =
    dag.versions.get(stored.versionNo) ??
    (found === undefined ? undefined : new Version(dag, found.versionNo, found.hash, found.spec));
  const run = restoreRun(state, stored, version);
  state.lingering.push({ run, batchNo: state.batchNo });
  return run;
}

export function seenVersion(recorder: Recorder, run: StoredRun): StoredVersion | undefined {
  return recorder.seenVersions.find(({ dagId, versionNo }) => dagId === run.dagId && versionNo === run.versionNo);
}

/** Counts as active like any other run, and waits like a new one when the dag has as many as it may (I7). */
export function reopenRun(recorder: Recorder, run: RunRow, actor: Actor, retryNo = 0): void {
  const { runs, now } = recorder.state;
  const { dag } = runs.versionOf(run);
  const { key } = readRunNotes(runs.notes.get(run));
  const admitted = dag.hasRoomForRun() && dag.waitingRuns.size === 0 && mayHaveKey(recorder.state, dag, key);
  const notes = notesReopened(runs.notes.get(run) ?? {}, runs.versionOf(run).graph.closing);
  recorder.record({ kind: 'RunReopened', runId: runs.id[run]!, admitted, retryNo, actor, at: now, ...notes });
  recordKey(recorder, run, { isLive: true, isActive: admitted });
}

/** Back to closing, its outcome as it was: a task that closes it is to run again. It waits for nobody's turn. */
export function reopenAsClosing(recorder: Recorder, run: RunRow, actor: Actor): void {
  const { runs, now } = recorder.state;
  const admitted = runs.versionOf(run).dag.hasRoomForRun() && hasRoomForKey(recorder.state, run);
  const runId = runs.id[run]!;
  recorder.record({ kind: 'RunReopened', runId, admitted, retryNo: 0, asClosing: true, actor, at: now });
  // It waits for no key: it closes without one.
  recordKey(recorder, run, { isLive: admitted, isActive: admitted });
}
