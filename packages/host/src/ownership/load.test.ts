import {
  DEFAULT_SETTINGS,
  type Epoch,
  type RunId,
  type ShardNo,
  State,
  type StoredRun,
  shardOfRun,
} from '@signalbox/engine';
import type { LoadedHeads, Store, TakenShard } from '@signalbox/store';
import { expect, test } from 'vitest';
import { quarantine, restoreWithCare } from './load.ts';

const taken = (shard: number, loadCount: number, currentRun: number | null = null): TakenShard => ({
  shard: shard as ShardNo,
  epoch: 1 as Epoch,
  loadCount,
  currentRun: currentRun as RunId | null,
});

function runOf(shard: number): RunId {
  for (let runId = 2 ** 40; ; runId += 1) if (shardOfRun(runId as RunId) === shard) return runId as RunId;
}

/** What a load of shards without runs notes in the database. */
async function notesOf(shards: readonly TakenShard[]): Promise<unknown[]> {
  const notes: unknown[] = [];
  const store = {
    noteCurrentRun: async (shard: ShardNo, _epoch: Epoch, runId: RunId | null) => {
      notes.push([shard, runId]);
    },
  } as Pick<Store, 'noteCurrentRun'> as Store;
  const suspects: readonly StoredRun[] = [];
  await restoreWithCare(store, {} as State, { heads: {} as LoadedHeads, suspects, taken: shards }, () => undefined);
  return notes;
}

test('shards without runs, which never commit, are taken without a write for each, however often they were loaded', async () => {
  expect(await notesOf([taken(1, 3), taken(2, 1_000), taken(3, 1)])).toEqual([]);
});

test('a run that was noted when its process died, and is gone since, is not blamed again', async () => {
  expect(await notesOf([taken(1, 4, 257), taken(2, 4)])).toEqual([[1, null]]);
});

test('a load goes round runs of the shards that it takes, and not round those that another owner has dealt with since (I72)', () => {
  const state = new State({ ...DEFAULT_SETTINGS, zoneData: () => null as never });
  const [one, two] = [runOf(1), runOf(2)];
  const charged = new Set([one, two]);
  quarantine(state, charged, [taken(1, 1)]);
  expect([...state.quarantined]).toEqual([one]);
  // The strike of the other was refused: its shard was not ours.
  charged.delete(two);
  quarantine(state, charged, [taken(2, 1)]);
  expect([...state.quarantined]).toEqual([one]);
  charged.clear();
  quarantine(state, charged, [taken(1, 1)]);
  expect([...state.quarantined]).toEqual([]);
});
