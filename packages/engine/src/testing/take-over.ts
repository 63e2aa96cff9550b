/** A takeover loads the first of many runs, serves, and loads the others meanwhile. */
import { adoptShards, noteAllLoaded, restoreRuns } from '../apply/restore.ts';
import type { StoredRun } from '../model/stored.ts';
import { State } from '../tables/state.ts';
import type { Scenario } from './scenario.ts';

/** The owner is another one that has loaded some of the runs. The answer loads the rest. */
export function takeOver({ node, dagId }: Scenario, isLoaded: (run: StoredRun) => boolean): () => void {
  const heads = node.store.heads(node.shards, node.passedMs);
  const state = new State(node.settings);
  const runs = heads.runs.filter(isLoaded);
  adoptShards(state, { ...heads, runs, partial: [dagId] }, { wall: node.wall, mono: node.mono });
  node.state = state;
  return () => {
    restoreRuns(state, { ...heads, runs: heads.runs.filter((run) => !isLoaded(run)) });
    noteAllLoaded(state);
    node.work();
  };
}
