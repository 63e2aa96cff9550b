import { assert } from '../assert.ts';
import type { DagDeployed, DagRetired, DagRevived } from '../change.ts';
import { Dag } from '../dag/dag-table.ts';
import { Version } from '../dag/version.ts';
import { type DagId, SHARD_COUNT, type ShardNo } from '../ids.ts';
import { updateLanes } from '../match/enqueue.ts';
import type { State } from '../state.ts';

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
  updateLanes(known);
  state.agenda.dags.add(known);
}

/** Dags are numbered within the shard they were born in: id = number × 64 + shard. */
export function dagNo(dagId: number): number {
  return Math.floor(dagId / SHARD_COUNT);
}

export function birthShardOf(dagId: number): ShardNo {
  return (dagId % SHARD_COUNT) as ShardNo;
}

export function nextDagId(shard: ShardNo, lastDagNo: number): DagId {
  return ((lastDagNo + 1) * SHARD_COUNT + shard) as DagId;
}
