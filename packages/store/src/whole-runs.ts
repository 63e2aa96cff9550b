/** Runs with their tasks, and the dags and versions that they need: the common part of loads and fetches. */
import {
  type DagId,
  type RunId,
  type StoredDag,
  type StoredRun,
  type StoredVersion,
  shardOfRun,
} from '@signalbox/engine';
import type { CallResult } from './batch.ts';
import type { Ask } from './database.ts';
import { byLeaf, type KnownDays, leafOfRun } from './leaf.ts';
import type { Call } from './statement.ts';
import { type MapsByRun, parseMaps, readMaps, sortMaps } from './statements/map.ts';
import {
  type DagKey,
  parseDags,
  parseVersions,
  readDags,
  readVersions,
  type VersionKey,
} from './statements/read-dag.ts';
import { parseRuns, parseTasks, readRuns, readTasks, sortTasks, type TasksByRun } from './statements/read-run.ts';

/** A run without a claim has no rows of tasks or maps: they are not asked for. */
export async function readWholeRuns(
  ask: Ask,
  days: KnownDays,
  { withTasks, withoutTasks }: { withTasks: readonly RunId[]; withoutTasks: readonly RunId[] },
): Promise<StoredRun[]> {
  if (withTasks.length + withoutTasks.length === 0) return [];
  const leafOf = (id: RunId) => leafOfRun(days, id);
  const runCalls: Call[] = [...byLeaf([...withTasks, ...withoutTasks], leafOf)].map(([leaf, ids]) =>
    readRuns(leaf, ids),
  );
  const taskCalls: Call[] = [...byLeaf(withTasks, leafOf)].map(([leaf, ids]) => readTasks(leaf, ids));
  const mapCalls: Call[] = [...byLeaf(withTasks, leafOf)].map(([leaf, ids]) => readMaps(leaf, ids));
  const results = await ask([...taskCalls, ...mapCalls, ...runCalls]);
  const tasks: TasksByRun = new Map();
  for (const result of results.slice(0, taskCalls.length)) parseTasks(result, tasks);
  sortTasks(tasks);
  const maps: MapsByRun = new Map();
  const runsFrom = taskCalls.length + mapCalls.length;
  for (const result of results.slice(taskCalls.length, runsFrom)) parseMaps(result, maps);
  sortMaps(maps);
  return results.slice(runsFrom).flatMap((result) => parseRuns(result, tasks, maps));
}

/** The dags of these runs and schedules, in the versions that the runs have and in the current one. */
export async function readDagsOf(
  ask: Ask,
  runs: readonly StoredRun[],
  more: readonly DagKey[],
): Promise<{ dags: StoredDag[]; versions: StoredVersion[] }> {
  const dags = new Map<DagId, DagKey>();
  const versions = new Map<string, VersionKey>();
  for (const { shard, dagId } of more) dags.set(dagId, { shard, dagId });
  for (const { runId, dagId, versionNo } of runs) {
    const shard = shardOfRun(runId);
    if (!dags.has(dagId)) dags.set(dagId, { shard, dagId });
    versions.set(`${dagId}/${versionNo}`, { shard, dagId, versionNo });
  }
  if (dags.size === 0) return { dags: [], versions: [] };
  const keys = [...dags.values()];
  const [dagRows, versionRows] = expectResults(
    await ask([readDags(keys), readVersions([...versions.values()], keys)]),
    2,
  );
  return { dags: parseDags(dagRows), versions: parseVersions(versionRows) };
}

type Results<N extends number, Found extends CallResult[] = []> = Found['length'] extends N
  ? Found
  : Results<N, [...Found, CallResult]>;

export function expectResults<N extends number>(results: readonly CallResult[], count: N): Results<N> {
  if (results.length !== count) throw new Error(`${results.length} results instead of ${count}.`);
  return results as Results<N>;
}
