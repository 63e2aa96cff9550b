/** Reads shards after they were taken. A shard that was loaded several times without a commit is loaded carefully (D3). */
import { type RunId, restoreRuns, type ShardNo, type State, type StoredRun, shardOfRun } from '@signalbox/engine';
import type { LoadedHeads, Store, TakenShard } from '@signalbox/store';

export interface Loaded {
  readonly heads: LoadedHeads;
  /** Runs of shards whose loads have failed before: restored one by one. */
  readonly suspects: readonly StoredRun[];
  readonly taken: readonly TakenShard[];
}

/** Loads without a commit in between before a shard is loaded with care. */
const CARE_FROM = 3;

/** A takeover loads runs that have begun, and the oldest of the others; the rest comes in during the next turns. */
export interface LoadSizes {
  /** Of each priority in each shard. */
  readonly heads: number;
  readonly restPerTurn: number;
}

export const LOAD_SIZES: LoadSizes = { heads: 1_000, restPerTurn: 2_000 };

export async function loadShards(store: Store, taken: readonly TakenShard[], sizes = LOAD_SIZES): Promise<Loaded> {
  const heads = await store.loadHeads(
    taken.map(({ shard }) => shard),
    sizes.heads,
  );
  const careful = new Set<ShardNo>(taken.filter((shard) => shard.loadCount >= CARE_FROM).map(({ shard }) => shard));
  const isSuspect = (run: StoredRun) => careful.has(shardOfRun(run.runId));
  return {
    heads: { ...heads, runs: heads.runs.filter((run) => !isSuspect(run)) },
    suspects: heads.runs.filter(isSuspect),
    taken,
  };
}

/**
 * Runs of these shards that the load goes round, because they are about to be set aside. Of these shards only: by the time another one is
 * taken, its owner may have dealt with its runs, and then they must be loaded (I72).
 */
export function quarantine(state: State, runIds: Iterable<RunId>, taken: readonly TakenShard[]): void {
  const shards = new Set(taken.map(({ shard }) => shard));
  for (const runId of state.quarantined) if (shards.has(shardOfRun(runId))) state.quarantined.delete(runId);
  for (const runId of runIds) if (shards.has(shardOfRun(runId))) state.quarantined.add(runId);
}

/** Notes each run before it touches it: should the process die of it, the next owner knows which one it was (I57). */
export async function restoreWithCare(
  store: Store,
  state: State,
  { heads, suspects, taken }: Loaded,
  onTouched: (runId: RunId) => void,
): Promise<void> {
  for (const { shard, epoch, loadCount, currentRun } of taken) {
    if (loadCount < CARE_FROM) continue;
    const ofShard = suspects.filter(({ runId }) => shardOfRun(runId) === shard);
    // A shard without runs never commits, so its count only grows: a note for each of them would make every takeover wait for a disk.
    if (ofShard.length === 0 && currentRun === null) continue;
    for (const run of ofShard) {
      onTouched(run.runId);
      await store.noteCurrentRun(shard, epoch, run.runId);
      restoreRuns(state, { dags: heads.dags, versions: heads.versions, runs: [run] });
    }
    await store.noteCurrentRun(shard, epoch, null);
  }
}
