import type { ShardNo } from '../../model/ids.ts';
import type { ModelTables, RunRow } from './tables.ts';

export function liveRuns(tables: ModelTables, shards: readonly ShardNo[]): RunRow[] {
  const rows = shards.flatMap((shard) => [...tables.liveOf(shard).values()].map((runId) => tables.runs.get(runId)));
  return rows.filter((row) => row !== undefined).sort(byId);
}

export function byId(a: RunRow, b: RunRow): number {
  return a.runId - b.runId;
}
