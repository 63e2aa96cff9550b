/** Applies changes about keys of runs. */
import type { RunKeySet, StoredRunKey } from '../model/change.ts';
import type { DagId, RunRow } from '../model/ids.ts';
import type { Dag } from '../tables/dag/dag.ts';
import { ADMITTED, OPEN } from '../tables/run/run-table.ts';
import type { State } from '../tables/state.ts';

export function applyRunKey(state: State, { runId, dagId, key, isLive, isActive }: RunKeySet): void {
  if (isLive) state.runKeys.add(dagId, key, runId, isActive);
  else state.runKeys.remove(dagId, key, runId);
  if (!isActive) releaseOne(state, dagId, key);
}

export function restoreRunKey(state: State, { dagId, key, runId, isActive }: StoredRunKey): void {
  state.runKeys.add(dagId, key, runId, isActive);
}

/** The oldest run that is held goes back to the waiting runs of its dag. Entries of runs that are gone are dropped on the way. */
function releaseOne(state: State, dagId: DagId, key: string): void {
  const { runs, runKeys, dags, agenda } = state;
  const held = runKeys.find(dagId, key)?.held;
  const dag = dags.get(dagId);
  if (held === undefined || dag === undefined) return;
  for (let runId = held.pop(); runId !== undefined; runId = held.pop()) {
    const run = runs.find(runId);
    if (run < 0 || runs.phase[run] !== OPEN || runs.has(run, ADMITTED)) continue;
    dag.waitingRuns.push(runId);
    agenda.dags.add(dag);
    return;
  }
}

/** The limit may be another: all of them are looked at again. */
export function releaseHeldRuns({ runKeys, agenda }: State, dag: Dag): void {
  for (const [, { held }] of runKeys.of(dag.id)) {
    for (let runId = held.pop(); runId !== undefined; runId = held.pop()) dag.waitingRuns.push(runId);
  }
  agenda.dags.add(dag);
}

/** A run has come from the database: one that is held may want it cancelled, and could not say so before. */
export function releaseForLoaded(state: State, run: RunRow): void {
  const { key } = state.runs.notes.get(run) ?? {};
  if (key !== undefined) releaseOne(state, state.runs.versionOf(run).dag.id, key);
}
