import { assert } from '../model/assert.ts';
import type { DagDeployed, DagRetired, DagRevived } from '../model/change.ts';
import { dagNo } from '../model/dag/dag-id.ts';
import { Dag, Version } from '../tables/dag/dag.ts';
import { settleRates, updateLanes } from '../tables/queue/enqueue.ts';
import type { State } from '../tables/state.ts';
import { releaseHeldRuns } from './apply-run-key.ts';

export function applyDagChange(state: State, change: DagDeployed | DagRetired | DagRevived): void {
  if (change.kind === 'DagDeployed') return deploy(state, change);
  const dag = state.dags.get(change.dagId);
  assert(dag !== undefined, `${change.kind} is about a dag in memory`);
  assert(dag.isRetired === (change.kind === 'DagRevived'), 'a dag is retired once, and revived once');
  dag.isRetired = change.kind === 'DagRetired';
  dag.touchedIn = state.batchNo;
}

function deploy(state: State, change: DagDeployed): void {
  const shard = state.shards.get(change.shard);
  const known = state.dags.get(change.dagId);
  if (known === undefined) {
    const { tenantId, dagId, name, versionNo, hash, spec } = change;
    const tenant = state.tenantName(tenantId);
    const dag = new Dag(change.shard, dagId, tenantId, tenant, name, versionNo, hash, spec);
    dag.touchedIn = state.batchNo;
    dag.isFrozen = state.frozen.holdsDag(dag);
    state.dags.add(dag);
    if (shard !== undefined) shard.lastDagNo = Math.max(shard.lastDagNo, dagNo(dagId));
    return;
  }
  known.touchedIn = state.batchNo;
  known.isRetired = false;
  const version = new Version(known, change.versionNo, change.hash, change.spec);
  const previous = known.current;
  known.versions.set(version.no, version);
  known.current = version;
  // A replay has no database that an older version could come from.
  if (previous.liveRuns === 0 && !state.isReplay) known.versions.delete(previous.no);
  // Limits are those of the current version: a raised one lets waiting work go at once (I46).
  known.settleLimits();
  if (state.rates.isUsed || change.spec.rate !== undefined) settleRates(state, known);
  updateLanes(known);
  releaseHeldRuns(state, known);
}
