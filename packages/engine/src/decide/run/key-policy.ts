/**
 * A dag can limit its active runs by key: a text that is made of the params of each run. A run has its key from its admission until
 * it has ended. What a new run does when its key is full, the dag says:
 *
 * - `queue`: it waits for the key, after those that came before it.
 * - `cancel_running`: the oldest ones with the key are cancelled, and it begins when they have ended.
 * - `cancel_new`: it is created and cancelled in the same commit.
 * - `skip`: it is not created. Where somebody was told of the run before, such as by events that were batched, it is cancelled as above.
 *
 * The limit and the policy are those of the current version; the key of a run never changes. A run that is opened again waits for its
 * key, whatever the policy.
 */

import type { Actor, RunId, RunRow } from '../../model/ids.ts';
import { readRunNotes } from '../../model/run/run-notes.ts';
import type { Dag, Version } from '../../tables/dag/dag.ts';
import { keyOfNew } from '../../tables/run/may-have-key.ts';
import type { RunKey } from '../../tables/run/run-keys.ts';
import { ADMITTED, OPEN } from '../../tables/run/run-table.ts';
import type { State } from '../../tables/state.ts';
import type { Recorder } from '../recorder.ts';
import { cancelRun } from './cancel.ts';

const CONCURRENCY = 'concurrency' as Actor;

/** A key that has as many runs as it may. */
export interface TakenKey {
  readonly key: string;
  /** One of those runs. Undefined when all of them are in the command that asks. */
  readonly holder: RunId | undefined;
}

/**
 * By the policy `skip` no run with these params is created while its key is taken. Null: the run may be created. `more` counts runs of
 * the same command that come before it.
 */
export function takenKey(state: State, dag: Dag, version: Version, params: string | null, more = 0): TakenKey | null {
  const { concurrency } = dag.current.spec;
  if (concurrency?.onFull !== 'skip') return null;
  const key = keyOfNew(version, params);
  if (key === undefined) return null;
  const found = state.runKeys.find(dag.id, key);
  if (countLive(found) + more < concurrency.limit) return null;
  const [holder] = found === undefined ? [] : [...found.active, ...found.waiting];
  return { key, holder };
}

/** For people: the key, and who has it. */
export function describeTaken({ runs }: State, { key, holder }: TakenKey): string {
  const run = holder === undefined ? -1 : runs.find(holder);
  return run < 0 ? `"${key}"` : `"${key}" (run ${runs.uidOf(run as RunRow)})`;
}

/** After the run was created: what becomes of it, or of those that have its key. */
export function settleNewKey(recorder: Recorder, dag: Dag, runId: RunId, key: string): void {
  const { state } = recorder;
  const { concurrency } = dag.current.spec;
  const found = state.runKeys.find(dag.id, key);
  if (concurrency === undefined || found === undefined) return;
  if (concurrency.onFull === 'cancel_running') return cancelOlder(recorder, dag, found, runId);
  // One that was admitted has its key. Whoever seems to wait for it before then is not loaded yet, and may have been cancelled.
  const isAdmitted = state.runs.has(state.runs.find(runId), ADMITTED);
  if (concurrency.onFull === 'queue' || isAdmitted || countLive(found) <= concurrency.limit) return;
  cancelRun(recorder, { kind: 'CancelRun', tenantId: dag.tenantId, runId, actor: CONCURRENCY });
}

/** Runs that wait for a key, by the policy `cancel_running`: what has come from the database since is cancelled. */
export function cancelForKeys(recorder: Recorder): void {
  const { agenda, runs, runKeys } = recorder.state;
  for (const runId of agenda.keys) {
    if (recorder.isFull()) return;
    agenda.keys.delete(runId);
    const run = runs.find(runId);
    const { key } = run < 0 ? {} : readRunNotes(runs.notes.get(run));
    if (key === undefined || runs.phase[run] !== OPEN || runs.has(run, ADMITTED)) continue;
    const { dag } = runs.versionOf(run);
    const found = runKeys.find(dag.id, key);
    if (found !== undefined) cancelOlder(recorder, dag, found, runId);
  }
}

/** By the policy `cancel_running`: as many of the older ones as are too many beside this one. One that is not loaded yet is cancelled when it is. */
function cancelOlder(recorder: Recorder, dag: Dag, { active, waiting }: RunKey, runId: RunId): void {
  const { runs } = recorder.state;
  const { concurrency } = dag.current.spec;
  if (concurrency?.onFull !== 'cancel_running') return;
  const older = [...active, ...waiting]
    .filter((one) => one < runId && isOpenOrUnknown(recorder.state, one))
    .sort((a, b) => a - b);
  for (const one of older.slice(0, Math.max(0, older.length - concurrency.limit + 1))) {
    if (runs.find(one) < 0) continue;
    cancelRun(recorder, { kind: 'CancelRun', tenantId: dag.tenantId, runId: one, actor: CONCURRENCY });
  }
}

/** Those that have the key or wait for it. */
function countLive(key: RunKey | undefined): number {
  return key === undefined ? 0 : key.active.size + key.waiting.size;
}

function isOpenOrUnknown({ runs }: State, runId: RunId): boolean {
  const run = runs.find(runId);
  return run < 0 || runs.phase[run] === OPEN;
}
