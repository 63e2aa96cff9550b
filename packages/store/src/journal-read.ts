import type { Change, Epoch, Instant, NodeId, ShardNo } from '@signalbox/engine';
import type { Database } from './database.ts';
import { decodeChanges } from './journal.ts';
import { call } from './statement.ts';
import { selectJournal } from './statements/journal.ts';
import { parseIntegers } from './text.ts';

/** One commit, as the journal has it: whole, also where it touched other shards. */
export interface JournalEntry {
  /** The number that it gave the shard it was asked for. */
  readonly commitNo: number;
  readonly at: Instant;
  readonly nodeId: NodeId;
  readonly shards: readonly { readonly shard: ShardNo; readonly epoch: Epoch; readonly commitNo: number }[];
  readonly changes: readonly Change[];
}

export async function readJournal(
  database: Database,
  shard: ShardNo,
  afterCommitNo: number,
  limit: number,
): Promise<JournalEntry[]> {
  const read = call(selectJournal, shard, afterCommitNo, limit);
  const [found] = await database.snapshot((ask) => ask([read], { last: true }));
  return (found?.rows ?? []).map(([commitNo, at, nodeId, shards, epochs, commitNos, format, changes]) => {
    const [allEpochs, allCommitNos] = [parseIntegers(epochs), parseIntegers(commitNos)];
    return {
      commitNo: Number(commitNo),
      at: Number(at) as Instant,
      nodeId: nodeId as NodeId,
      shards: parseIntegers(shards).map((number, i) => ({
        shard: number as ShardNo,
        epoch: allEpochs[i] as Epoch,
        commitNo: allCommitNos[i] ?? 0,
      })),
      changes: decodeChanges(Number(format), Buffer.from((changes ?? '').slice(2), 'hex')),
    };
  });
}
