import type { Epoch, RunId, ShardNo, State, StoredRun } from '@signalbox/engine';
import type { LoadedHeads, Store, TakenShard } from '@signalbox/store';
import { expect, test } from 'vitest';
import { restoreWithCare } from './load.ts';

const taken = (shard: number, loadCount: number, currentRun: number | null = null): TakenShard => ({
  shard: shard as ShardNo,
  epoch: 1 as Epoch,
  loadCount,
  currentRun: currentRun as RunId | null,
});

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
