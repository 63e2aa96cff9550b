import type { Change, Epoch, Instant, NodeId, ShardNo } from '@signalbox/engine';
import type { Database } from './database.ts';
import { decodeChanges, JOURNAL_FORMAT } from './journal.ts';
import { call } from './statement.ts';
import { selectJournal } from './statements/journal.ts';
import { parseIntegers } from './text.ts';

/** Why the changes of a row are not known here. */
export interface Unreadable {
  readonly format: number;
  /** `newer_format`: a newer server wrote it. `damaged`: its format is known, and yet the bytes make no sense in it. */
  readonly reason: 'newer_format' | 'damaged';
  readonly problem: string;
}

/**
 * The changes of one row. A row that can't be read has none, and says why: one bad row must not end whatever reads the
 * rows around it. In a rolling upgrade that is normal: the newer servers write rows that the older ones can't read yet.
 */
export function readRow(
  format: number,
  bytes: Buffer,
  shards: readonly number[],
): { readonly changes: readonly Change[]; readonly unreadable: Unreadable | null } {
  try {
    return { changes: decodeChanges(format, bytes, shards), unreadable: null };
  } catch (error) {
    const reason = format > JOURNAL_FORMAT ? 'newer_format' : 'damaged';
    const problem = error instanceof Error ? error.message : String(error);
    return { changes: [], unreadable: { format, reason, problem } };
  }
}

/** The bytes of a `bytea` as PostgreSQL gives it in text. */
export const bytesOf = (text: string | null | undefined): Buffer => Buffer.from((text ?? '').slice(2), 'hex');

/** One commit, as the journal has it: whole, also where it touched other shards. */
export interface JournalEntry {
  /** The number that it gave the shard it was asked for. */
  readonly commitNo: number;
  readonly at: Instant;
  readonly nodeId: NodeId;
  readonly shards: readonly { readonly shard: ShardNo; readonly epoch: Epoch; readonly commitNo: number }[];
  /** Empty when the row can't be read. */
  readonly changes: readonly Change[];
  readonly unreadable: Unreadable | null;
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
    const allShards = parseIntegers(shards);
    return {
      commitNo: Number(commitNo),
      at: Number(at) as Instant,
      nodeId: nodeId as NodeId,
      shards: allShards.map((number, i) => ({
        shard: number as ShardNo,
        epoch: allEpochs[i] as Epoch,
        commitNo: allCommitNos[i] ?? 0,
      })),
      ...readRow(Number(format), bytesOf(changes), allShards),
    };
  });
}
