import { type DagId, SHARD_COUNT, type ShardNo } from '../ids.ts';

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
